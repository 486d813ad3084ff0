"""The contracts of learners and measures of strength. Runs, sweeps and the command line rely on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import torch
from rich.progress import Progress
from rich.table import Table

from crib_env.train.loop.learning import RunSettings

if TYPE_CHECKING:
    from crib_env.train.loop.run_folder import RunFolder, RunSummary

S = TypeVar("S", bound=RunSettings)
PlayerT_contra = TypeVar("PlayerT_contra", contravariant=True)
Result = TypeVar("Result")


class TrainedPlayer(Protocol):
    """The player that a learner trains."""

    def save(self, path: Path) -> None:
        """Writes the weights to a file."""


@runtime_checkable
class Learner(Protocol[S]):
    """A module of ``train`` that trains a player.

    A learner whose player cannot play matches of cribbage also has ``STRENGTH``: a :class:`StrengthMeasure`.
    """

    NAME: str
    """Its name on the command line."""

    @property
    def PRESETS(self) -> Mapping[str, S]:  # a constant of the module
        """Settings by the name of their preset, including ``default``."""

    def train(self, settings: S, folder: RunFolder, progress: Progress) -> tuple[TrainedPlayer, RunSummary]:
        """Trains a player, from the last checkpoint in the folder if there is one; returns player and summary.

        The summary is that of :meth:`crib_env.train.loop.run_folder.Position.summary`, with ``updates``.
        """


class StrengthMeasure(Protocol[PlayerT_contra, Result]):
    """How strong a player is: an object of :mod:`crib_env.train.loop.strength`, or one for another game."""

    SAMPLE: str
    """The unit that ``games`` counts, in words."""

    def total(self, games: int) -> int:
        """How many games :meth:`measure` plays in all."""

    def measure(
        self, agent: PlayerT_contra, games: int, seed: int, on_progress: Callable[[int], None] = ..., /
    ) -> Result:
        """Measures the strength; ``on_progress`` receives the number of further games done."""

    def in_words(self, result: Result, /) -> str:
        """The result and half of its 95 % intervals, in a line."""

    def scalars(self, result: Result, /) -> dict[str, float]:
        """The result by TensorBoard tag (:mod:`crib_env.evaluate.runs.format`)."""

    def as_json(self, result: Result, /) -> dict[str, Any]:
        """The result for ``summary.json``."""

    def table(self, name: str, result: Result, /) -> Table:
        """The result of a player of this name as a table."""

    def draw(self, folder: Path, title: str) -> Path:
        """Draws the learning curve of a run into its folder; returns the path of the picture."""


class Stateful(Protocol):
    """What a checkpoint saves."""

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Its tensors."""

    def load_state_dict(self, tensors: dict[str, torch.Tensor], /) -> object:
        """Restores the tensors of :meth:`state_dict`."""


class Trainee(Stateful, Protocol):
    """A player in training, with everything that a checkpoint saves."""

    @property
    def agent(self) -> Any:
        """The player whose strength is measured."""


class Parts:
    """Everything that a checkpoint saves, of parts under names: networks, averages, optimizers, memories."""

    def __init__(self, **parts: Stateful) -> None:
        self._parts = parts

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors of all parts, as ``part.key``."""
        return {
            f"{name}.{key}": value for name, part in self._parts.items() for key, value in part.state_dict().items()
        }

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        for name, part in self._parts.items():
            start = f"{name}."
            part.load_state_dict({key.removeprefix(start): t for key, t in tensors.items() if key.startswith(start)})


def by_network(kind: str, parts: Mapping[str, Stateful]) -> dict[str, Stateful]:
    """Parts of which each network has one, by names of their own: ``kind.network``."""
    return {f"{kind}.{name}": part for name, part in parts.items()}
