"""``best``: this project's strongest networks.

It ships with the project: ``best`` is the networks of ``agents/best/data/best.safetensors``, ``best:PATH`` are
others. ``best:scores=no`` plays every deal like the first of a game, to measure the value of playing to the
score. :mod:`train.best.learner` describes their training.

In the play it has two policy networks, which have learned solutions of the play in points. In the pegging episode it
draws its cards from the one, so that hardly anybody can exploit it; in deals it lays the rank that the other makes most
likely. Near the end of a game points do not stand for the chance to win. There the play network values the first two
cards by this chance, and the cards after them are searched as ``expert`` does. A player of
:mod:`train.best.response` has no policy networks, and lays the card of the best value everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.best.by_kind import ByKind
from crib_env.agents.best.inputs import N_DISCARD_INPUTS, N_PLAY_INPUTS, AfterPlays, discard_inputs
from crib_env.agents.best.policy import PolicyNetwork, policy_inputs
from crib_env.agents.chance import draw, uniforms
from crib_env.agents.discards import SAME_TO_A_NETWORK, by_phase, lowest_of_rank, next_discard, pairs_open, six_dealt
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.agents.networks.value_network import ValueNetwork, in_few_sizes
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.agents.solved_play import card_chances, near_end, without_rare
from crib_env.engine import WIN
from crib_env.kernels import streams
from crib_env.solver.hands import N_RANKS

SHIPPED = Path(__file__).parent / "data" / "best.safetensors"

GAMES = ("deals", "pegging")
"""The games that a policy is for: deals with a crib, and the pegging episode."""

_FIRST_CARDS = 2  # near the end of a game, the cards after these are found by search
_PERCENT = 100.0


def _as_chances(percents: np.ndarray) -> np.ndarray:
    """Percent to probabilities, in float64 so that values that differ in float32 still do."""
    return percents.astype(np.float64) / _PERCENT


def is_searched(views: PlayerViews) -> np.ndarray:
    """(B,) bool: which of B decisions of the play ``best`` finds by search, if it has policies."""
    searched: np.ndarray = near_end(views) & (views.laid[:, _FIRST_CARDS - 1] >= 0)
    return searched


class Ranks(NamedTuple):
    """The legal ranks in some decisions, M in all, and their values."""

    after: AfterPlays
    values: (
        np.ndarray
    )  # (M,) float32, gain in the probability of winning from now on, percent; infinite if it wins at once


def _best(values: np.ndarray) -> np.ndarray:
    """(B, 13) 1 for the rank of the highest value, else 0."""
    chances = np.zeros(values.shape)
    chances[np.arange(len(values)), values.argmax(axis=1)] = 1.0
    return chances


class BestAgent:
    """Discards the pair with the best probability of winning the game, and lays cards by its policies or by values.

    The play network values the position after each rank: how much the probability of winning will still change, in
    units of the value of a point in this deal. The immediate value of the card's points is known and added
    (:mod:`crib_env.agents.belief.prospects`). The discard network values each pair; only differences
    between its values are meaningful. The networks work in percent; :meth:`rank_values` and :meth:`discard_values`
    have the unit of ``expert``'s, probabilities from 0 to 1.

    Args:
        hidden: widths of the hidden layers of the play network.
        hidden_discard: widths of the hidden layers of the discard network.
        hidden_policies: widths of the hidden layers of the policy networks, by game (``GAMES``); without one for a game
            it plays that by its values.
        name: shown in tables.

    Attributes:
        play: the play network, or two in weights of version 1.0 (:class:`crib_env.agents.best.by_kind.ByKind`).
        discard: the discard network.
        policies: the policy networks, by game.
        sees_scores: whether it plays to the score; otherwise as at the start of a game.
    """

    suits = "unseen"

    def __init__(
        self,
        hidden: tuple[int, ...],
        hidden_discard: tuple[int, ...],
        hidden_policies: Mapping[str, tuple[int, ...]] = MappingProxyType({}),
        name: str = "best",
    ) -> None:
        self.play: nn.Module = ValueNetwork(N_PLAY_INPUTS, hidden, nn.ReLU)
        self.discard = ValueNetwork(N_DISCARD_INPUTS, hidden_discard, nn.ReLU)
        self.policies = {game: PolicyNetwork(widths) for game, widths in hidden_policies.items()}
        self.hidden, self.hidden_discard, self.hidden_policies = hidden, hidden_discard, dict(hidden_policies)
        self.name, self.sees_scores = name, True
        self._seed, self._expert = streams(0, 1)[0], ExpertAgent(threads=1)

    @property
    def remembers_discards(self) -> bool:
        """Whether the play depends on own discards: that of the policies does not, that near the end of a game does."""
        return self.sees_scores or "deals" not in self.policies

    @classmethod
    def load(cls, path: str | Path = SHIPPED, scores: bool = True) -> BestAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, "best") as file:
            about = file.about
            widths = about.get("hidden_policies", {})  # files of version 1.0 have none
            policies = {game: tuple(widths[game]) for game in GAMES if game in widths}
            agent = cls(tuple(about["hidden"]), tuple(about["hidden_discard"]), policies)
            if about.get("by_kind"):
                agent.play = ByKind(agent.hidden)
            file.fill(agent.networks())
        agent.sees_scores = scores
        settings = [str(path)] * (path != SHIPPED) + ["scores=no"] * (not scores)
        agent.name = ":".join(["best", ",".join(settings)]) if settings else "best"
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all, as 16-bit numbers: this rounding changes hardly any decision."""
        shape = ("hidden", "hidden_discard", "hidden_policies")
        about = {"learner": "best"} | {key: getattr(self, key) for key in shape}
        about["by_kind"] = isinstance(self.play, ByKind)
        save_tensors(path, {key: tensor.half() for key, tensor in self.state_dict().items()}, about)

    def networks(self) -> nn.ModuleDict:
        """The networks: ``play``, ``discard`` and ``policies``."""
        return nn.ModuleDict({"play": self.play, "discard": self.discard, "policies": nn.ModuleDict(self.policies)})

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All weights under the names ``network.layer``."""
        return self.networks().state_dict()

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Loads weights from :meth:`state_dict`; missing or extra names are a ``RuntimeError``."""
        self.networks().load_state_dict(tensors)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.agents.agent.Agent`."""
        if not self.sees_scores:
            views = replace(views, scores=np.zeros_like(views.scores))
        return by_phase(views, self._discard, self._lay)

    def discard_values(self, views: PlayerViews) -> np.ndarray:
        """The probability of winning with each pair discarded, (B, 15), up to a constant that all fifteen share.

        The pairs are in the order of ``PLACES`` among the sorted six cards; -inf for pairs without a card
        that is discarded already.
        """
        return _as_chances(self._pair_percents(views))

    @torch.inference_mode()
    def _pair_percents(self, views: PlayerViews) -> np.ndarray:
        """As :meth:`discard_values`, in percent, as the network gives them."""
        six = six_dealt(views)
        is_open = pairs_open(views, six)
        values = np.full(is_open.shape, -np.inf, np.float32)
        seen = discard_inputs(six, views.scores, views.is_dealer)
        values[is_open] = in_few_sizes(self.discard, torch.from_numpy(seen[is_open])).numpy()
        return values

    @torch.inference_mode()
    def look_ahead(self, views: PlayerViews) -> Ranks:
        """Values of the legal ranks in B decisions of the play."""
        after = AfterPlays.of(views)
        values = after.gain + after.worth * in_few_sizes(self.play, torch.from_numpy(after.seen)).numpy()
        wins = views.scores[after.decision, 0] + after.points >= WIN
        return Ranks(after, np.where(wins, np.float32(np.inf), values))

    def rank_values(self, views: PlayerViews) -> np.ndarray:
        """How much each rank will change the probability of winning, (B, 13); -inf if it cannot be laid.

        A rank that wins at once has +inf.
        """
        ranks = self.look_ahead(views)
        values = np.full((len(views), 13), -np.inf, np.float32)
        values[ranks.after.decision, ranks.after.rank] = ranks.values
        return _as_chances(values)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.agents.agent.MixedAgent`: it draws in the pegging episode, and nowhere else."""
        return card_chances(views, self.act, self.rank_chances)

    @torch.inference_mode()
    def rank_chances(self, views: PlayerViews) -> np.ndarray:
        """How likely each rank is laid, (B, 13), at B decisions of the play."""
        chances = np.zeros((len(views), N_RANKS))
        is_pegging, by_value = views.starter < 0, np.ones(len(views), np.bool_)
        parts: list[tuple[str, np.ndarray, Callable[[PlayerViews], np.ndarray]]] = [
            ("pegging", is_pegging, self._drawn),
            ("deals", ~is_pegging & ~near_end(views), lambda some: _best(self._logits("deals", some))),
            ("deals", is_searched(views), lambda some: _best(self._expert.rank_values(some))),
        ]
        for game, is_part, chances_of in parts:
            rows = np.flatnonzero(is_part)
            if game in self.policies and len(rows):
                chances[rows], by_value[rows] = chances_of(views[rows]), False
        rows = np.flatnonzero(by_value)
        if len(rows):
            chances[rows] = _best(self.rank_values(views[rows]))
        return chances

    def _logits(self, game: str, views: PlayerViews) -> np.ndarray:
        inputs = torch.from_numpy(policy_inputs(views))
        logits: np.ndarray = in_few_sizes(self.policies[game], inputs).numpy()
        return logits

    def _drawn(self, views: PlayerViews) -> np.ndarray:
        logits = self._logits("pegging", views).astype(np.float64)
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        return without_rare(chances)

    def _discard(self, views: PlayerViews) -> np.ndarray:
        values = self._pair_percents(views)
        return next_discard(views, values, np.zeros_like(values), SAME_TO_A_NETWORK)

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return lowest_of_rank(views, draw(self.rank_chances(views), uniforms(self._seed, views)))
