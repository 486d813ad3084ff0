"""Checkpoints of all learners: the position of a run, and tensors under dotted names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from crib_env.files.json_text import typed

if TYPE_CHECKING:
    from crib_env.train.loop.run_folder import RunFolder


@dataclass
class Position:
    """The position of a run."""

    rounds: int = 0
    episodes: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0
    simulation_seconds: float = 0.0

    @classmethod
    def restored(cls, folder: RunFolder, load_state_dict: Callable[[dict[str, torch.Tensor]], None]) -> Position:
        """The position at the last checkpoint, or the start if there is none.

        Args:
            folder: the folder of the run.
            load_state_dict: loads the tensors of the checkpoint; an error in it is a fault of the file.

        Raises:
            ValueError: the checkpoint is damaged, or not one of this learner with these settings.
        """
        if (checkpoint := folder.load_checkpoint()) is None:
            return cls()
        tensors, about = checkpoint
        try:
            position = typed(about, cls)
            if not all(value >= 0 for value in vars(position).values()):
                raise ValueError("its position is before the start of the run")
            if position.episodes and not position.seconds:
                raise ValueError("its episodes have taken no time")
            load_state_dict(tensors)
        except (IndexError, KeyError, OverflowError, RuntimeError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"the last checkpoint of {folder.path} is not one of this run ({reason})") from None
        return position

    def summary(self) -> dict[str, Any]:
        """The position for ``summary.json``.

        A learner adds ``updates``, how often it has changed its weights: a number, or one for each network.
        """
        return {
            "episodes": self.episodes,
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "episodes_per_second": self.episodes / self.seconds,
            "simulation_share": self.simulation_seconds / self.seconds,
        }


def in_all(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The summary, except updates, of a run in consecutive parts: the episodes of the last, and the time of all."""
    whole = Position(
        episodes=parts[-1]["episodes"],
        seconds=sum(part["seconds"] for part in parts),
        processor_seconds=sum(part["processor_seconds"] for part in parts),
        simulation_seconds=sum(part["simulation_share"] * part["seconds"] for part in parts),
    )
    return whole.summary()


def named(name: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors under ``name.key``."""
    return {f"{name}.{key}": value for key, value in tensors.items()}


def part(name: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of a whole checkpoint that :func:`named` put under a name."""
    return {key.removeprefix(f"{name}."): value for key, value in tensors.items() if key.startswith(f"{name}.")}


def optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """The state of an optimizer as ``parameter.what``."""
    state = optimizer.state_dict()["state"]
    return {f"{i}.{what}": value for i, whole in state.items() for what, value in whole.items()}


def load_optimizer_state(optimizer: torch.optim.Optimizer, tensors: dict[str, torch.Tensor]) -> None:
    """Restores the state that :func:`optimizer_state` returned.

    Raises:
        ValueError: a tensor belongs to no parameter or has another shape; torch does not check this.
    """
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in tensors.items():
        i, _, what = key.partition(".")
        if not i.isdecimal() or int(i) >= len(parameters):
            raise ValueError(f"the optimizer has no parameter {i}")
        if value.ndim and value.shape != parameters[int(i)].shape:
            raise ValueError(f"{key} of the optimizer has the shape {list(value.shape)}")
        state.setdefault(int(i), {})[what] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def steps_taken(optimizer: torch.optim.Optimizer) -> int:
    """The number of steps of an Adam optimizer, including those before a checkpoint."""
    return max((int(state["step"]) for state in optimizer.state.values()), default=0)
