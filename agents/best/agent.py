"""``best``: this project's strongest player that takes microseconds.

It ships with the project: ``best`` is the networks of ``agents/best/data/best.safetensors``, ``best:PATH`` are
others. ``best:scores=no`` plays every deal like the first of a game, to measure the value of playing to the
score. :mod:`crib_env.train.best.learner` describes their training.

It discards by the exact analysis, as ``expert`` does. In the play it has two policy networks, which have learned
solutions of the play in points. In the pegging episode it draws its cards from the one, so that hardly anybody can
exploit it; in deals it lays the rank that the other makes most likely. Near the end of a game points do not stand for
the chance to win. There, from the second card of the play on, it searches as ``expert`` does, over fewer hands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.best.policy import PolicyNetwork, policy_inputs
from crib_env.agents.choosing import (
    by_phase,
    card_chances,
    draw,
    lowest_of_rank,
    near_end,
    same_cards,
    uniforms,
    without_rare,
)
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.agents.networks.feed_forward import in_few_sizes
from crib_env.agents.networks.weights_file import WeightsFile, reading_weights, save_tensors
from crib_env.hands import N_RANKS
from crib_env.kernels import streams
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers

SHIPPED = Path(__file__).parent / "data" / "best.safetensors"

GAMES = ("deals", "pegging")
"""The games that a policy is for: deals with a crib, and the pegging episode."""

_HANDS = 40  # that a search covers at most; with the 100 of `expert` it wins no more


def load(path: str | Path = SHIPPED, scores: bool = True, win_table: Path | None = None) -> BestAgent:
    """The agent ``best`` from a weights file.

    Args:
        scores: whether it plays to the score.
        win_table: the file of another win table than the one that ships with the package.

    Raises:
        ValueError: a file is missing, damaged or holds something else; the message names it.
    """
    with reading_weights(path, "best") as file:
        agent = BestAgent.read(file, win_table)
    agent.sees_scores = scores
    return agent


class BestAgent:
    """Discards by the exact analysis, lays cards by its policies, and searches near the end of a game.

    Without a policy for a game it searches every card there.

    Args:
        hidden: widths of the hidden layers of the policy networks, by game (``GAMES``).

    Attributes:
        policies: the policy networks, by game.
        sees_scores: whether it plays to the score; otherwise as at the start of a game.
        name: shown in tables.
    """

    def __init__(self, hidden: Mapping[str, tuple[int, ...]], win_table: Path | None = None) -> None:
        self.policies = {game: PolicyNetwork(widths) for game, widths in hidden.items()}
        self.hidden, self.name, self.sees_scores = dict(hidden), "best", True
        self._seed, self._expert = streams(0, 1)[0], ExpertAgent(_HANDS, 1, win_table)

    @property
    def powers(self) -> Powers:
        """The search near the end of a game depends on own discards, the policies do not."""
        return Powers(
            mixes="known", suits="unseen", remembers_discards=self.sees_scores or "deals" not in self.policies
        )

    @classmethod
    def read(cls, file: WeightsFile, win_table: Path | None = None) -> BestAgent:
        """The agent whose weights a file holds.

        Raises:
            ValueError: names or shapes of the tensors differ.
        """
        hidden = {game: tuple(widths) for game, widths in dict(file.about["hidden"]).items() if game in GAMES}
        agent = cls(hidden, win_table)
        file.fill(agent.networks())
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all, as 16-bit numbers: this rounding changes hardly any decision."""
        about = {"learner": "best", "hidden": self.hidden}
        save_tensors(path, {key: tensor.half() for key, tensor in self.state_dict().items()}, about)

    def networks(self) -> nn.ModuleDict:
        """The policy networks."""
        return nn.ModuleDict({"policies": nn.ModuleDict(self.policies)})

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All weights under the names ``policies.game.layer``."""
        return self.networks().state_dict()

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(self._seen(views), self._expert.discards, self._lay)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`: it draws in the pegging episode, and nowhere else."""
        discards = self._expert.discards
        return card_chances(self._seen(views), lambda some: np.eye(N_ACTIONS)[discards(some)], self.rank_chances)

    def _seen(self, views: PlayerViews) -> PlayerViews:
        return views if self.sees_scores else replace(views, scores=np.zeros_like(views.scores))

    def rank_logits(self, views: PlayerViews) -> np.ndarray:
        """The logits of the networks for each rank, (B, 13) float64, at B decisions of the play; -inf for one that
        cannot be laid.

        Raises:
            KeyError: there is no network for the game of a decision.
        """
        logits, is_pegging = np.empty((len(views), N_RANKS)), views.starter < 0
        for game, is_part in zip(GAMES, (~is_pegging, is_pegging)):
            if is_part.any():
                logits[is_part] = self._logits(game, views[is_part])
        return logits

    def rank_chances(self, views: PlayerViews) -> np.ndarray:
        """How likely each rank is laid, (B, 13), at B decisions of the play."""
        chances = np.zeros((len(views), N_RANKS))
        is_pegging, is_left = views.starter < 0, np.ones(len(views), np.bool_)
        is_searched = near_end(views) & (views.n_laid > 0)
        for game, is_part in (("pegging", is_pegging), ("deals", ~is_pegging & ~is_searched)):
            rows = np.flatnonzero(is_part)
            if game in self.policies and len(rows):
                logits = self._logits(game, views[rows])
                if game == "pegging":
                    found = without_rare(np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True)))
                else:
                    found = np.eye(N_RANKS)[logits.argmax(axis=1)]
                chances[rows], is_left[rows] = found, False
        rows = np.flatnonzero(is_left)
        if len(rows):
            chances[rows, self._expert.best_ranks(views[rows])] = 1.0
        return chances

    @torch.inference_mode()
    def _logits(self, game: str, views: PlayerViews) -> np.ndarray:
        same = same_cards(views)
        inputs = torch.from_numpy(policy_inputs(views[same.first]))
        return same.spread(in_few_sizes(self.policies[game], inputs).numpy())

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return lowest_of_rank(views, draw(self.rank_chances(views), uniforms(self._seed, views)))
