"""Shared parts of agents with one network, or with one for each phase: names, and weights in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from crib_env.agents.networks.weights_file import save_tensors
from crib_env.players.agent import Powers, Suits

PHASES = ("discard", "play")
Network = TypeVar("Network", bound=nn.Module)


class NetworksByPhase(Generic[Network]):
    """Networks under the name ``all``, or under the names ``discard`` and ``play``.

    Args:
        networks: by name.
        about: the learner, and the settings that a weights file holds.
        name: the name of the agent in tables.
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
