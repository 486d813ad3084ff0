"""The player of O'Connor's discard game (2000): six cards are dealt, two are discarded, four score with the starter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env.agents.networks.feed_forward import ValueNetwork
from crib_env.agents.networks.weights_file import save_tensors
from crib_env.kernels import kernel
from crib_env.observation import N_ACTIONS

ACTIVATIONS = {"sigmoid": nn.Sigmoid, "relu": nn.ReLU}


@kernel
def write_kept(hand, states):
    """Writes the four cards that each of the fifteen discards leaves of six ids, as 52 bits each, in their order."""
    n = 0
    for i in range(6):
        for j in range(i + 1, 6):
            states[n] = 0
            for k in range(6):
                if k not in (i, j):
                    states[n, hand[k]] = 1
            n += 1


@kernel
def _write_all_kept(hands, states):
    for b in range(len(hands)):
        write_kept(hands[b], states[15 * b : 15 * b + 15])


def kept_of(hands: np.ndarray) -> np.ndarray:
    """The four cards left by each discard of hands (N, 6): (15 N, 52) int8, fifteen in a row for each hand."""
    states = np.empty((15 * len(hands), N_ACTIONS), np.int8)
    _write_all_kept(hands, states)
    return states


class DiscardPlayer:
    """Discards the two cards that leave the four with the highest value.

    Args:
        activation: of the hidden layers, ``"sigmoid"`` or ``"relu"``.
    """

    name = "discard-game"

    def __init__(self, activation: str, hidden: tuple[int, ...]) -> None:
        self.network = ValueNetwork(N_ACTIONS, hidden, ACTIVATIONS[activation])
        self.about: dict[str, Any] = {"learner": self.name, "activation": activation, "hidden": list(hidden)}

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, self.network.state_dict(), self.about)

    @torch.no_grad()
    def discards(self, hands: np.ndarray) -> np.ndarray:
        """The discard of each of N hands of six sorted ids: (N,) numbers from 0 to 14, pairs in the order of ids."""
        values = self.network(torch.from_numpy(kept_of(hands)).float())
        return values.view(-1, 15).argmax(dim=1).numpy()
