"""Memories to sample from: arrays of one length, of which the newest rows are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from crib_env.observation import N_ACTIONS

C = TypeVar("C", bound="Columns")


class Columns:
    """What dataclasses of arrays of one length share."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def __getitem__(self: C, rows: Any) -> C:
        return type(self)(*(column[rows] for column in vars(self).values()))


class Memory(Generic[C]):
    """Rows to sample from; what is added, and what makes way for it, its kinds say.

    Args:
        rows: as many as there is room for, of zeros.
    """

    def __init__(self, rows: C) -> None:
        self._rows = rows
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, len(self._rows))

    def _put(self, new: C, places: np.ndarray) -> None:
        for name, column in vars(self._rows).items():
            column[places] = getattr(new, name)

    def sample(self, n: int, rng: np.random.Generator) -> C:
        """``n`` rows drawn evenly, with replacement."""
        return self._rows[rng.integers(len(self), size=n)]

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that is held, bits packed, for a checkpoint."""
        held = {name: torch.from_numpy(_pack(column[: len(self)])) for name, column in vars(self._rows).items()}
        return {**held, "added": torch.tensor(self._added)}

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self._added = int(tensors["added"])
        for name, column in vars(self._rows).items():
            column[: len(self)] = _unpack(tensors[name].numpy(), column)


class Ring(Memory[C]):
    """The newest rows."""

    def add(self, new: C) -> None:
        """Appends rows; the oldest make way."""
        self._put(new, (self._added + np.arange(len(new))) % len(self._rows))
        self._added += len(new)


@dataclass(frozen=True)
class Transitions(Columns):
    """M transitions over one or more decisions of a player.

    ``discount`` is what the value of the next observation counts: gamma to the number of decisions passed, or 0 where
    the chain of decisions has ended; the next observation and mask mean nothing there.
    """

    observation: np.ndarray  # (M, n) int8
    card: np.ndarray  # (M,) int64
    reward: np.ndarray  # (M,) float32
    discount: np.ndarray  # (M,) float32
    next_observation: np.ndarray  # (M, n) int8
    next_mask: np.ndarray  # (M, 52) int8
    next_is_discard: np.ndarray  # (M,) bool


class Replay(Ring[Transitions]):
    """The last ``capacity`` transitions.

    Args:
        capacity: how many.
        n_inputs: length of an observation.
    """

    def __init__(self, capacity: int, n_inputs: int) -> None:
        super().__init__(
            Transitions(
                np.zeros((capacity, n_inputs), np.int8),
                np.zeros(capacity, np.int64),
                np.zeros(capacity, np.float32),
                np.zeros(capacity, np.float32),
                np.zeros((capacity, n_inputs), np.int8),
                np.zeros((capacity, N_ACTIONS), np.int8),
                np.zeros(capacity, np.bool_),
            )
        )


def _pack(array: np.ndarray) -> np.ndarray:
    return np.packbits(array.view(np.uint8), axis=-1) if array.dtype == np.int8 else array


def _unpack(packed: np.ndarray, like: np.ndarray) -> np.ndarray:
    return np.unpackbits(packed, axis=-1, count=like.shape[-1]) if like.dtype == np.int8 else packed
