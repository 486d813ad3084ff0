"""Hidden layers, networks of values, and agents of networks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from torch import nn

from crib_env.agents.networks.weights_file import WeightsFile, reading_weights, save_tensors
from crib_env.players.agent import Powers, Suits

A = TypeVar("A", bound="NetworkAgent")


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


class NetworkAgent:
    """An agent of networks. A weights file holds it, with the arguments of its ``new``.

    Args:
        module: all weights.
        about: the arguments of ``new``, as JSON.
        suits: what its choice of a rank depends on (:class:`crib_env.Powers`).
    """

    learner: ClassVar[str]

    def __init__(self, module: nn.Module, about: dict[str, Any], suits: Suits) -> None:
        self.module, self.about, self.name = module, about, self.learner
        self.powers = Powers(suits=suits)

    @classmethod
    def new(cls, *about: Any, **named: Any) -> Any:
        """An agent with random weights, from torch's generator."""
        raise NotImplementedError

    @classmethod
    def load(cls: type[A], path: str | Path) -> A:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, cls.learner) as file:
            return cls.read(file)

    @classmethod
    def read(cls: type[A], file: WeightsFile) -> A:
        """The networks of a weights file, inside :func:`reading_weights`."""
        agent: A = cls.new(**{key: value for key, value in file.about.items() if key != "learner"})
        file.fill(agent.module)
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, self.state_dict(), {"learner": self.learner, **self.about})

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All weights, by the names of layers."""
        return self.module.state_dict()

    def load_state_dict(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Loads weights from :meth:`state_dict`; missing or extra names are a ``RuntimeError``."""
        self.module.load_state_dict(tensors)
