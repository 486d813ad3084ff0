"""What the checkpoints of all learners hold: how far a run has come, and tensors under dotted names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch


@dataclass
class Position:
    """How far a run has come."""

    rounds: int = 0
    episodes: int = 0
    seconds: float = 0.0
    simulation_seconds: float = 0.0

    def summary(self) -> dict[str, Any]:
        """What ``summary.json`` says of it.

        A learner adds ``updates``, how often it has changed its weights: a number, or one for each network.
        """
        return {
            "episodes": self.episodes,
            "seconds": self.seconds,
            "episodes_per_second": self.episodes / self.seconds,
            "simulation_share": self.simulation_seconds / self.seconds,
        }


def in_all(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The summary, but for updates, of a run in parts that follow each other."""
    whole = Position(
        episodes=sum(part["episodes"] for part in parts),
        seconds=sum(part["seconds"] for part in parts),
        simulation_seconds=sum(part["simulation_share"] * part["seconds"] for part in parts),
    )
    return whole.summary()


def named(name: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors under ``name.key``."""
    return {f"{name}.{key}": value for key, value in tensors.items()}


def part(name: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """What :func:`named` put under a name, out of a whole checkpoint."""
    return {key.removeprefix(f"{name}."): value for key, value in tensors.items() if key.startswith(f"{name}.")}


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """The state of an optimizer as ``parameter.what``."""
    state = optimizer.state_dict()["state"]
    return {f"{i}.{what}": value for i, whole in state.items() for what, value in whole.items()}


def load_optimizer_tensors(optimizer: torch.optim.Optimizer, tensors: dict[str, torch.Tensor]) -> None:
    """Takes over what :func:`optimizer_tensors` gave."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in tensors.items():
        i, what = key.split(".")
        state.setdefault(int(i), {})[what] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def steps_taken(optimizer: torch.optim.Optimizer) -> int:
    """How many steps an Adam optimizer has taken in all, those before a checkpoint included."""
    return max((int(state["step"]) for state in optimizer.state.values()), default=0)
