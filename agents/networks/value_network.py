"""Networks with one output, a value."""

from __future__ import annotations

import itertools

import torch
from torch import nn


class ValueNetwork(nn.Module):
    """Inputs (M, n) to values (M,): hidden layers of the widths given, then one linear output.

    Args:
        n_inputs: length of the inputs.
        hidden: widths of the hidden layers.
        activation: of the hidden layers.
    """

    def __init__(self, n_inputs: int, hidden: tuple[int, ...], activation: type[nn.Module]) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise((n_inputs, *hidden)):
            layers += [nn.Linear(before, after), activation()]
        self.body = nn.Sequential(*layers)
        self.output = nn.Linear(hidden[-1] if hidden else n_inputs, 1)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """See the class."""
        last = self.body(inputs)
        with torch.autocast("cpu", enabled=False):  # values in full precision, whatever the layers below compute in
            return self.output(last.float()).squeeze(1)


def in_few_sizes(network: nn.Module, inputs: torch.Tensor) -> torch.Tensor:
    """Values (M,) of inputs (M, n), padded with rows of zeros.

    Torch prepares itself for every batch size it meets, which costs time and memory. With padding it
    meets at most eight sizes between a power of two and the next.
    """
    step = 1 << max(len(inputs).bit_length() - 4, 0)
    values: torch.Tensor = network(nn.functional.pad(inputs, (0, 0, 0, -len(inputs) % step)))
    return values[: len(inputs)]
