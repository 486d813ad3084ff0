"""``best``: this project's strongest network, which plays to the score without search.

It ships with the project: ``best`` is the network of ``agents/best/data/best.safetensors``, ``best:PATH`` is
another one. ``best:scores=no`` plays every deal like the first of a game, to measure the value of playing to the
score. :mod:`train.best.learner` describes its training.

A player of :mod:`train.distil.learner` has a policy network too, and draws its cards from that. The policy is one in
points; near the end of a game the play network values cards by the chance to win instead.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.best.inputs import GREEDY_INPUT, N_DISCARD_INPUTS, N_PLAY_INPUTS, AfterPlays, discard_inputs
from crib_env.agents.best.policy import PolicyNetwork, policy_inputs
from crib_env.agents.chance import draw, uniforms
from crib_env.agents.discards import SAME_TO_A_NETWORK, by_phase, lowest_of_rank, next_discard, pairs_open, six_dealt
from crib_env.agents.networks.value_network import ValueNetwork, in_few_sizes
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.agents.solved_play import card_chances, near_end, without_rare
from crib_env.engine import WIN
from crib_env.kernels import streams
from crib_env.solver.hands import N_RANKS

SHIPPED = Path(__file__).parent / "data" / "best.safetensors"

_PERCENT = 100.0


def _as_chances(percents: np.ndarray) -> np.ndarray:
    """Percent to probabilities, in float64 so that values that differ in float32 still do."""
    return percents.astype(np.float64) / _PERCENT


class Ranks(NamedTuple):
    """The legal ranks in some decisions, M in all, and their values."""

    after: AfterPlays
    values: (
        np.ndarray
    )  # (M,) float32, gain in the probability of winning from now on, percent; infinite if it wins at once


class ByKind(nn.Module):
    """Two networks for the play: one for any opponent, one for opponents that are not greedy.

    The cards that the opponent has laid give the probability of its type
    (:mod:`crib_env.agents.belief.opponent_hands`). The first network's weight is twice the probability of a greedy
    opponent, at most 1.

    Args:
        hidden: widths of the hidden layers of each.
    """

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.any_kind = ValueNetwork(N_PLAY_INPUTS, hidden, nn.ReLU)
        self.careful = ValueNetwork(N_PLAY_INPUTS, hidden, nn.ReLU)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Inputs (M, ``N_PLAY_INPUTS``) to values (M,)."""
        return torch.lerp(self.careful(seen), self.any_kind(seen), (2.0 * seen[:, GREEDY_INPUT]).clamp(max=1.0))


class BestAgent:
    """Discards the pair and lays the rank with the best probability of winning the game, as estimated by its networks.

    The play network values the position after each rank: how much the probability of winning will still change, in
    units of the value of a point in this deal. The immediate value of the card's points is known and added
    (:mod:`crib_env.agents.belief.prospects`). The discard network values each pair; only differences
    between its values are meaningful. The networks work in percent; :meth:`rank_values` and :meth:`discard_values`
    have the unit of ``expert``'s, probabilities from 0 to 1.

    Args:
        hidden: widths of the hidden layers of the play network.
        hidden_discard: widths of the hidden layers of the discard network.
        by_kind: whether there are two play networks, by the opponent's type.
        hidden_policy: widths of the hidden layers of the policy network; ``None`` is none.
        name: shown in tables.

    Attributes:
        play: the play network, or two (:class:`ByKind`).
        discard: the discard network.
        policy: the policy network, or ``None``.
        sees_scores: whether it plays to the score; otherwise as at the start of a game.
    """

    suits = "unseen"

    def __init__(
        self,
        hidden: tuple[int, ...],
        hidden_discard: tuple[int, ...],
        by_kind: bool = False,
        hidden_policy: tuple[int, ...] | None = None,
        name: str = "best",
    ) -> None:
        self.play: nn.Module = ByKind(hidden) if by_kind else ValueNetwork(N_PLAY_INPUTS, hidden, nn.ReLU)
        self.discard = ValueNetwork(N_DISCARD_INPUTS, hidden_discard, nn.ReLU)
        self.policy = None if hidden_policy is None else PolicyNetwork(hidden_policy)
        self.hidden, self.hidden_discard, self.by_kind = hidden, hidden_discard, by_kind
        self.hidden_policy, self.name, self.sees_scores = hidden_policy, name, True
        self._seed = streams(0, 1)[0]

    @classmethod
    def load(cls, path: str | Path = SHIPPED, scores: bool = True) -> BestAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, "best") as file:
            about = file.about
            policy = about.get("hidden_policy")  # files from before there were any have none
            agent = cls(
                tuple(about["hidden"]),
                tuple(about["hidden_discard"]),
                about["by_kind"],
                None if policy is None else tuple(policy),
            )
            file.fill(agent.networks())
        agent.sees_scores = scores
        settings = [str(path)] * (path != SHIPPED) + ["scores=no"] * (not scores)
        agent.name = ":".join(["best", ",".join(settings)]) if settings else "best"
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all, as 16-bit numbers: this rounding changes hardly any decision."""
        shape = ("hidden", "hidden_discard", "by_kind", "hidden_policy")
        about = {"learner": "best"} | {key: getattr(self, key) for key in shape}
        save_tensors(path, {key: tensor.half() for key, tensor in self.state_dict().items()}, about)

    def networks(self) -> nn.ModuleDict:
        """The networks, by the names ``play``, ``discard`` and, if there is one, ``policy``."""
        networks = nn.ModuleDict({"play": self.play, "discard": self.discard})
        return networks if self.policy is None else nn.ModuleDict({**networks, "policy": self.policy})

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
        """See :class:`crib_env.agents.agent.MixedAgent`; without a policy network, 1 for the card that it chooses."""
        return card_chances(views, self.act, self.rank_chances)

    @torch.inference_mode()
    def rank_chances(self, views: PlayerViews) -> np.ndarray:
        """How likely each rank is laid, (B, 13), at B decisions of the play."""
        chances = np.zeros((len(views), N_RANKS))
        by_value = np.ones(len(views), np.bool_)
        if self.policy is not None:
            by_value = near_end(views)
            seen = policy_inputs(views[np.flatnonzero(~by_value)])
            logits = in_few_sizes(self.policy, torch.from_numpy(seen))
            chances[~by_value] = without_rare(torch.softmax(logits, dim=1).numpy().astype(np.float64))
        rows = np.flatnonzero(by_value)
        if len(rows):
            chances[rows, self.rank_values(views[rows]).argmax(axis=1)] = 1.0
        return chances

    def _discard(self, views: PlayerViews) -> np.ndarray:
        values = self._pair_percents(views)
        return next_discard(views, values, np.zeros_like(values), SAME_TO_A_NETWORK)

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return lowest_of_rank(views, draw(self.rank_chances(views), uniforms(self._seed, views)))
