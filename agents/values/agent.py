"""A player by values: what ``train response`` trains, and what ``best`` was in version 1.0."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.discards import by_phase, lowest_of_rank
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.agents.networks.value_network import ValueNetwork, in_few_sizes
from crib_env.agents.networks.weights_file import WeightsFile, save_tensors
from crib_env.agents.values.by_kind import ByKind
from crib_env.agents.values.inputs import N_PLAY_INPUTS, AfterPlays
from crib_env.engine import WIN
from crib_env.players.agent import Powers

_PERCENT = 100.0
_OLD_DISCARD_INPUTS = 155  # of the discard network in files of version 1.0


class Ranks(NamedTuple):
    """The legal ranks in some decisions, M in all, and their values."""

    after: AfterPlays
    values: (
        np.ndarray
    )  # (M,) float32, gain in the probability of winning from now on, percent; infinite if it wins at once


class ValueAgent:
    """Discards by the exact analysis, and lays the card with the best value.

    The network values the position after each rank: how much the probability of winning will still change, in units of
    the value of a point in this deal. The immediate value of the card's points is known and added
    (:mod:`crib_env.agents.belief.prospects`).

    Args:
        hidden: widths of the hidden layers.

    Attributes:
        play: the network, or two in weights of version 1.0 (:class:`crib_env.agents.values.by_kind.ByKind`).
        sees_scores: whether it plays to the score; otherwise as at the start of a game.
        name: shown in tables.
    """

    powers = Powers(suits="unseen")

    def __init__(self, hidden: tuple[int, ...]) -> None:
        self.play: nn.Module = ValueNetwork(N_PLAY_INPUTS, hidden, nn.ReLU)
        self.hidden, self.name, self.sees_scores = hidden, "response", True
        self._expert = ExpertAgent(threads=1)

    @classmethod
    def read(cls, file: WeightsFile) -> ValueAgent:
        """The agent whose weights a file holds. It needs no discard network, which files of version 1.0 hold too.

        Raises:
            ValueError: names or shapes of the tensors differ.
        """
        about = file.about
        agent = cls(tuple(about["hidden"]))
        if about.get("by_kind", False):
            agent.play = ByKind(agent.hidden)
        networks = nn.ModuleDict({"play": agent.play})
        if "hidden_discard" in about:
            networks["discard"] = ValueNetwork(_OLD_DISCARD_INPUTS, tuple(about["hidden_discard"]), nn.ReLU)
        file.fill(networks)
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all, as 16-bit numbers: this rounding changes hardly any decision."""
        about = {"learner": "best", "hidden": self.hidden, "by_kind": isinstance(self.play, ByKind)}
        save_tensors(path, {key: tensor.half() for key, tensor in self.state_dict().items()}, about)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All weights under the names ``play.layer``."""
        return nn.ModuleDict({"play": self.play}).state_dict()

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Loads weights from :meth:`state_dict`; missing or extra names are a ``RuntimeError``."""
        nn.ModuleDict({"play": self.play}).load_state_dict(tensors)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        if not self.sees_scores:
            views = replace(views, scores=np.zeros_like(views.scores))
        return by_phase(views, self._expert.discards, self._lay)

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
        return values.astype(np.float64) / _PERCENT  # so that values that differ in float32 still do

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return lowest_of_rank(views, self.rank_values(views).argmax(axis=1))
