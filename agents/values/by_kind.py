"""Two play networks, by the kind of the opponent: those of ``best`` in version 1.0, whose files can still be read."""

from __future__ import annotations

import torch
from torch import nn

from crib_env.agents.networks.value_network import ValueNetwork
from crib_env.agents.values.inputs import GREEDY_INPUT, N_PLAY_INPUTS


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
