"""``best``: this project's strongest network, which plays to the score and searches nothing.

It ships with the project: ``best`` is the network of ``agents/data/best.safetensors``, ``best:PATH`` another one.
``best:scores=no`` plays every deal like the first of a game, to see what playing to the score is worth. How it
was trained stands in :mod:`train.best`.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from agents.best_inputs import N_DISCARD_INPUTS, N_PLAY_INPUTS, discard_inputs, play_inputs
from agents.discards import by_phase, lowest_of_rank, next_thrown, pairs_open, six_dealt
from agents.weights_file import reading_weights, save_tensors
from crib_env import PlayerViews

SHIPPED = Path(__file__).parent / "data" / "best.safetensors"


def _layers(n_inputs: int, hidden: tuple[int, ...], n_outputs: int) -> nn.Sequential:
    """ReLU layers of the widths given, then a linear one."""
    widths = (n_inputs, *hidden)
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], n_outputs))


class BestAgent:
    """Throws the pair and lays the rank for which its networks see the best chance to win the game.

    Values are chances to win in percent, from no fixed zero: only their differences within a decision mean anything.

    Args:
        hidden: widths of the hidden layers, of the network for the play.
        hidden_discard: of the one for discards.
        name: what tables call it.

    Attributes:
        sees_scores: whether it plays to the score; else as at the start of a game.
    """

    def __init__(self, hidden: tuple[int, ...], hidden_discard: tuple[int, ...], name: str = "best") -> None:
        self.play = _layers(N_PLAY_INPUTS, hidden, 13)
        self.discard = _layers(N_DISCARD_INPUTS, hidden_discard, 1)
        self.about = {"learner": "best", "hidden": list(hidden), "hidden_discard": list(hidden_discard)}
        self.name, self.sees_scores = name, True

    @classmethod
    def load(cls, path: str | Path = SHIPPED, sees_scores: bool = True) -> BestAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, "best") as (tensors, about):
            agent = cls(tuple(about["hidden"]), tuple(about["hidden_discard"]))
            agent.load_tensors(tensors)
        agent.sees_scores = sees_scores
        settings = [str(path)] * (path != SHIPPED) + ["scores=no"] * (not sees_scores)
        agent.name = ":".join(["best", ",".join(settings)]) if settings else "best"
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all, as numbers of 16 bits: rounding them changes hardly a decision."""
        save_tensors(path, {key: tensor.half() for key, tensor in self.tensors().items()}, self.about)

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
        values[is_open] = self.discard(torch.from_numpy(seen[is_open])).squeeze(1).float().numpy()
        return values

    @torch.inference_mode()
    def rank_values(self, views: PlayerViews) -> np.ndarray:
        """The value of laying each rank, (B, 13); minus infinity where it cannot be laid."""
        values = self.play(torch.from_numpy(play_inputs(views)).float()).float().numpy()
        legal = views.action_mask.reshape(-1, 4, 13).any(axis=1)
        return np.where(legal, values, -np.inf)

    def _throw(self, views: PlayerViews) -> np.ndarray:
        values = self.discard_values(views)
        return next_thrown(views, values, np.zeros_like(values))

    def _lay(self, views: PlayerViews) -> np.ndarray:
        return lowest_of_rank(views, self.rank_values(views).argmax(axis=1))
