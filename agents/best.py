"""``best``: this project's strongest network, which plays to the score and searches nothing.

It ships with the project: ``best`` is the network of ``agents/data/best.safetensors``, ``best:PATH`` another one.
``best:scores=no`` plays every deal like the first of a game, to see what playing to the score is worth. How it
was trained stands in :mod:`train.best`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from agents.best_inputs import GRASPS, N_DISCARD_INPUTS, N_PLAY_INPUTS, AfterPlays, discard_inputs
from agents.discards import by_phase, lowest_of_rank, next_thrown, pairs_open, six_dealt
from agents.value_network import ValueNetwork, in_few_sizes
from agents.weights_file import reading_weights, save_tensors
from crib_env import PlayerViews
from crib_env.engine import WIN

SHIPPED = Path(__file__).parent / "data" / "best.safetensors"


class Ranks(NamedTuple):
    """The ranks that may be laid in some decisions, M in all, and what they are worth."""

    after: AfterPlays
    values: np.ndarray  # (M,) float32, chance to win that is gained from now on, percent; infinite if it wins at once


class ByKind(nn.Module):
    """Two networks for the play: one for any opponent, one for opponents who do not grasp.

    Of what kind the opponent is the cards that it has laid tell (:mod:`agents.opponent_hands`). The likelier it grasps
    the more the first network counts; from even odds on, the second one does not.

    Args:
        hidden: widths of the hidden layers of each.
    """

    def __init__(self, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.any_kind = ValueNetwork(N_PLAY_INPUTS, hidden, nn.ReLU)
        self.careful = ValueNetwork(N_PLAY_INPUTS, hidden, nn.ReLU)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Inputs (M, ``N_PLAY_INPUTS``) to values (M,)."""
        return torch.lerp(self.careful(seen), self.any_kind(seen), (2.0 * seen[:, GRASPS]).clamp(max=1.0))


class BestAgent:
    """Throws the pair and lays the rank for which its networks see the best chance to win the game.

    The network for the play is asked about what each rank leads to: how much of a chance to win will be gained or lost
    after it, in units of what a point is worth in this deal. To that comes what the points of the card gain at once,
    which is known (:mod:`agents.prospects`). The network for discards is asked about each pair; only differences
    between its values mean anything. All values are percent.

    Args:
        hidden: widths of the hidden layers, of the network for the play.
        hidden_discard: of the one for discards.
        by_kind: whether it has two networks for the play, by the opponent's kind.
        name: what tables call it.

    Attributes:
        play: the network for the play, or two (:class:`ByKind`).
        discard: the one for discards.
        sees_scores: whether it plays to the score; else as at the start of a game.
    """

    def __init__(
        self, hidden: tuple[int, ...], hidden_discard: tuple[int, ...], by_kind: bool = False, name: str = "best"
    ) -> None:
        self.play: nn.Module = ByKind(hidden) if by_kind else ValueNetwork(N_PLAY_INPUTS, hidden, nn.ReLU)
        self.discard = ValueNetwork(N_DISCARD_INPUTS, hidden_discard, nn.ReLU)
        self.hidden, self.hidden_discard, self.by_kind = hidden, hidden_discard, by_kind
        self.name, self.sees_scores = name, True

    @classmethod
    def load(cls, path: str | Path = SHIPPED, sees_scores: bool = True) -> BestAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, "best") as (tensors, about):
            agent = cls(tuple(about["hidden"]), tuple(about["hidden_discard"]), about["by_kind"])
            agent.load_tensors(tensors)
        agent.sees_scores = sees_scores
        settings = [str(path)] * (path != SHIPPED) + ["scores=no"] * (not sees_scores)
        agent.name = ":".join(["best", ",".join(settings)]) if settings else "best"
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all, as numbers of 16 bits: rounding them changes hardly a decision."""
        about = {"learner": "best"} | {key: getattr(self, key) for key in ("hidden", "hidden_discard", "by_kind")}
        save_tensors(path, {key: tensor.half() for key, tensor in self.tensors().items()}, about)

    def tensors(self) -> dict[str, torch.Tensor]:
        """All weights under the names ``network.layer``."""
        networks = {"play": self.play, "discard": self.discard}
        return {f"{n}.{key}": value for n, net in networks.items() for key, value in net.state_dict().items()}

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over weights that :meth:`tensors` gave; more or fewer than its own are a ``RuntimeError``."""
        nn.ModuleDict({"play": self.play, "discard": self.discard}).load_state_dict(tensors)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`agents.agent.Agent`."""
        if not self.sees_scores:
            views = replace(views, scores=np.zeros_like(views.scores))
        return by_phase(views, self._throw, self._lay)

    @torch.inference_mode()
    def discard_values(self, views: PlayerViews) -> np.ndarray:
        """The value of each pair to throw, (B, 15), in the order of ``PLACES`` among the sorted six cards.

        Minus infinity where what is thrown already is not in the pair.
        """
        six = six_dealt(views)
        is_open = pairs_open(views, six)
        values = np.full(is_open.shape, -np.inf, np.float32)
        seen = discard_inputs(six, views.scores, views.is_dealer)
        values[is_open] = in_few_sizes(self.discard, torch.from_numpy(seen[is_open])).numpy()
        return values

    @torch.inference_mode()
    def look_ahead(self, views: PlayerViews) -> Ranks:
        """What each rank is worth that may be laid in B decisions of the play."""
        after = AfterPlays.of(views)
        values = after.gain + after.worth * in_few_sizes(self.play, torch.from_numpy(after.seen)).numpy()
        wins = views.scores[after.decision, 0] + after.points >= WIN
        return Ranks(after, np.where(wins, np.float32(np.inf), values))

    def rank_values(self, views: PlayerViews) -> np.ndarray:
        """The value of laying each rank, (B, 13); minus infinity where it cannot be laid."""
        ranks = self.look_ahead(views)
        values = np.full((len(views), 13), -np.inf, np.float32)
        values[ranks.after.decision, ranks.after.rank] = ranks.values
        return values

    def _throw(self, views: PlayerViews) -> np.ndarray:
        values = self.discard_values(views)
        return next_thrown(views, values, np.zeros_like(values))

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return lowest_of_rank(views, self.rank_values(views).argmax(axis=1))
