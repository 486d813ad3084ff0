"""The contracts of learners and measures of strength. Runs, sweeps and the command line rely on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import torch
from rich.table import Table

if TYPE_CHECKING:
    from crib_env.train.loop.rounds import Round

PlayerT_contra = TypeVar("PlayerT_contra", contravariant=True)
Result = TypeVar("Result")


class Stateful(Protocol):
    """What a checkpoint saves."""

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Its tensors; a learner may also give NumPy arrays."""

    def load_state_dict(self, tensors: dict[str, torch.Tensor], /) -> object:
        """Restores the tensors of :meth:`state_dict`."""


class Learner(Stateful, Protocol):
    """A player in training, made from its settings (docs/train/your-own-learner.md).

    Its class also has ``Settings``, a dataclass that inherits :class:`crib_env.train.RunSettings`, and may have:

    * ``PRESETS``, settings by the name of their preset, ``default`` among them;
    * ``STRENGTH``, a :class:`StrengthMeasure`, if the player cannot play matches of cribbage;
    * ``own_loop(rounds)``, in place of ``play_and_learn``, if it or a library calls
      :class:`crib_env.train.loop.rounds.Rounds` itself; returns what else belongs in the summary.

    torch's seed and threads are set before it is made. If it compiles kernels then, no clock runs.
    """

    def __init__(self, settings: Any, /) -> None: ...

    @property
    def agent(self) -> Any:
        """The player whose strength is measured."""

    def play_and_learn(self, now: Round, /) -> dict[str, float]:
        """Plays a round and learns from it; returns scalars for TensorBoard by tag.

        Everything random in it follows from ``now.rng``, so that a stopped run continues exactly.
        """


def presets_of(learner: type[Learner]) -> Mapping[str, Any]:
    """Settings by the name of their preset."""
    kind: Any = learner
    found: Mapping[str, Any] = getattr(kind, "PRESETS", None) or {"default": kind.Settings()}
    return found


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

    def draw(self, folder: Path, title: str, summary: dict[str, Any]) -> Path:
        """Draws the learning curve of a run with this summary into its folder; returns the path of the picture."""


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
