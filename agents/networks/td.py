"""The state values that TD learning trains (O'Connor 2000), and the agent that uses them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.choosing import SAME_TO_A_NETWORK
from crib_env.agents.features.after_states import (
    N_DISCARD_INPUTS,
    N_PLAY_INPUTS,
    after_states,
    discard_inputs,
    play_inputs,
)
from crib_env.agents.networks.feed_forward import PHASES, NetworksByPhase, ValueNetwork, in_few_sizes
from crib_env.kernels import kernel
from crib_env.observation import N_BITS


def gaussian_weights(network: nn.Module) -> None:
    """Draws all weights from a Gaussian of mean 0 and standard deviation 1, as O'Connor does initially."""
    for parameter in network.parameters():
        nn.init.normal_(parameter)


@kernel
def _best_of_each(values, order, ends, same, best):
    """The place of each decision whose value is the highest, or lower by at most ``same``; the lowest in order."""
    start = 0
    for b in range(len(ends)):
        least = values[start : ends[b]].max() - same
        best[b] = -1
        for k in range(start, ends[b]):
            if values[k] >= least and (best[b] < 0 or order[k] < order[best[b]]):
                best[b] = k
        start = ends[b]


class TDAgent(NetworksByPhase[ValueNetwork]):
    """Makes the move whose after-state has the highest value.

    Args:
        networks: ``all``, or ``discard`` and ``play``.
        about: the arguments of :meth:`new`.
    """

    learner = "td"

    def __init__(self, networks: dict[str, ValueNetwork], about: dict[str, Any]) -> None:
        super().__init__(networks, about, "all" if about["inputs"] == "bits" else "unseen")

    @classmethod
    def new(cls, inputs: str, hidden: tuple[int, ...], hidden_discard: tuple[int, ...] = ()) -> TDAgent:
        """An agent with random weights, from torch's generator.

        Args:
            inputs: ``"bits"`` is O'Connor's one network of sigmoids, for every state and of the bits alone, all weights
                from a Gaussian of standard deviation 1. ``"features"`` is one network of ReLUs for discards and one for
                the play, with inputs that follow from the bits.
            hidden_discard: those of the network of discards; none means that they are the same.
        """
        if inputs == "bits":
            networks = {"all": ValueNetwork(N_BITS, hidden, nn.Sigmoid)}
            gaussian_weights(networks["all"])
        else:
            shapes = (N_DISCARD_INPUTS, hidden_discard or hidden), (N_PLAY_INPUTS, hidden)
            networks = {phase: ValueNetwork(*shape, nn.ReLU) for phase, shape in zip(PHASES, shapes)}
        return cls(networks, {"inputs": inputs, "hidden": list(hidden), "hidden_discard": list(hidden_discard)})

    def values(self, states: np.ndarray, is_discard: bool) -> torch.Tensor:
        """Values of after-states (M, 209) int8 of one phase, (M,): points from the move on, minus the opponent's.

        With features the points of the card laid, and the exact value of a discard in the show, are known, and the
        network values what follows.
        """
        network = self.networks[self.network_of(is_discard)]
        if "all" in self.networks:
            return in_few_sizes(network, torch.from_numpy(states).float())
        inputs, known = discard_inputs(states) if is_discard else play_inputs(states)
        return in_few_sizes(network, torch.from_numpy(inputs).float()) + torch.from_numpy(known)

    @torch.no_grad()
    def look_ahead(
        self, observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray, same: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best cards (B,) and the values of their after-states, (B,) float32.

        Args:
            observation: (B, 209) int8.
            masks: (B, 52) int8, legal cards.
            is_discard: (B,) bool.
            same: values that differ by less are equal. Of these the lowest id is discarded, or the lowest rank laid.
        """
        cards, values = np.empty(len(observation), np.int64), np.empty(len(observation), np.float32)
        for phase in (True, False):
            rows = np.flatnonzero(is_discard == phase)
            if len(rows):
                states, moves, ends = after_states(observation[rows], masks[rows], is_discard[rows])
                worth, best = self.values(states, phase).numpy(), np.empty(len(rows), np.int64)
                _best_of_each(worth, moves if phase else moves % 13, ends, np.float32(same), best)
                cards[rows], values[rows] = moves[best], worth[best]
        return cards, values

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return self.look_ahead(views.observation, views.action_mask, views.is_discard, SAME_TO_A_NETWORK)[0]
