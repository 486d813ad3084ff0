"""Feed-forward networks: hidden layers, networks of values, and agents with one network or one for each phase."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from crib_env.agents.networks.weights_file import save_tensors
from crib_env.players.agent import Powers, Suits


def hidden_layers(
    n_inputs: int, hidden: tuple[int, ...], activation: type[nn.Module] = nn.ReLU
) -> tuple[nn.Sequential, int]:
    """Linear layers of these widths, each with an activation; and the width of what comes out."""
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise((n_inputs, *hidden)):
        layers += [nn.Linear(before, after), activation()]
    return nn.Sequential(*layers), hidden[-1] if hidden else n_inputs


class ValueNetwork(nn.Module):
    """Inputs (M, n) to values (M,): hidden layers of the widths given, then one linear output."""

    def __init__(self, n_inputs: int, hidden: tuple[int, ...], activation: type[nn.Module]) -> None:
        super().__init__()
        self.body, width = hidden_layers(n_inputs, hidden, activation)
        self.output = nn.Linear(width, 1)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """See the class."""
        last = self.body(inputs)
        # Values in full precision, whatever the layers below compute in.
        with torch.autocast(inputs.device.type, enabled=False):
            return self.output(last.float()).squeeze(1)


def in_few_sizes(network: nn.Module, inputs: torch.Tensor) -> torch.Tensor:
    """Values (M,) of inputs (M, n), padded with rows of zeros.

    Torch prepares itself for every batch size it meets, which costs time and memory. With padding it
    meets at most eight sizes between a power of two and the next.
    """
    step = 1 << max(len(inputs).bit_length() - 4, 0)
    missing = -len(inputs) % step
    values: torch.Tensor = network(nn.functional.pad(inputs, (0, 0, 0, missing)) if missing else inputs)
    return values[: len(inputs)]


PHASES = ("discard", "play")
Network = TypeVar("Network", bound=nn.Module)


class NetworksByPhase(Generic[Network]):
    """Networks under the name ``all``, or under the names ``discard`` and ``play``.

    Args:
        networks: by name.
        about: the learner, and the settings that a weights file holds.
        suits: what its choice of a rank depends on (:class:`crib_env.Powers`).
    """

    def __init__(self, networks: dict[str, Network], about: dict[str, Any], name: str, suits: Suits) -> None:
        self.networks, self.about, self.name, self.powers = networks, about, name, Powers(suits=suits)

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, self.state_dict(), self.about)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All weights under the names ``network.layer``."""
        return nn.ModuleDict(self.networks).state_dict()

    def load_state_dict(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Loads weights from :meth:`state_dict`; missing or extra names are a ``RuntimeError``."""
        nn.ModuleDict(self.networks).load_state_dict(tensors)

    def network_of(self, is_discard: bool) -> str:
        """The name of the network for a phase."""
        return "all" if "all" in self.networks else PHASES[0] if is_discard else PHASES[1]
