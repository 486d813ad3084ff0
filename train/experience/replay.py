"""Replay buffers: arrays of one length, of which the newest rows are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from crib_env.observation import N_ACTIONS

C = TypeVar("C", bound="Columns")
_LEAST_ERROR = 1e-3  # so that every transition can be drawn again


class Columns:
    """Shared parts of dataclasses of arrays of one length."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def __getitem__(self: C, rows: Any) -> C:
        return type(self)(*(column[rows] for column in vars(self).values()))

    @classmethod
    def joined(cls: type[C], parts: Sequence[C]) -> C:
        """The rows of all parts."""
        return cls(*(np.concatenate(columns) for columns in zip(*(vars(part).values() for part in parts))))


class Memory(Generic[C]):
    """Rows to sample from; subclasses decide what is added and what is replaced.

    Args:
        rows: of zeros, as many as the capacity.
    """

    def __init__(self, rows: C) -> None:
        self._rows = rows
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, len(self._rows))

    def __getitem__(self, rows: np.ndarray) -> C:
        return self._rows[rows]

    def _put(self, new: C, places: np.ndarray) -> None:
        for name, column in vars(self._rows).items():
            column[places] = getattr(new, name)

    def sample(self, n: int, rng: np.random.Generator) -> C:
        """``n`` rows sampled uniformly, with replacement."""
        return self._rows[rng.integers(len(self), size=n)]

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The rows held, bits packed, and their number, for a checkpoint."""
        held = {name: torch.from_numpy(_pack(column[: len(self)])) for name, column in vars(self._rows).items()}
        return {**held, "added": torch.tensor(self._added)}

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`.

        Raises:
            ValueError: the tensors do not fit this buffer.
        """
        self._added = int(tensors["added"])
        if self._added < 0:
            raise ValueError(f"{self._added} rows were added")
        for name, column in vars(self._rows).items():
            packed, wanted = tensors[name].numpy(), (len(self), *_pack(column[:1]).shape[1:])
            if packed.shape != wanted:
                raise ValueError(f"{name} has the shape {list(packed.shape)}, not {list(wanted)}")
            column[: len(self)] = _unpack(packed, column)


class Ring(Memory[C]):
    """The newest rows."""

    def add(self, new: C) -> np.ndarray:
        """Appends rows, replacing the oldest; returns their indices."""
        places = (self._added + np.arange(len(new))) % len(self._rows)
        self._put(new, places)
        self._added += len(new)
        return places


@dataclass(frozen=True)
class Transitions(Columns):
    """M transitions over one or more decisions of a player.

    Inputs, names of cards and gains are those of :class:`crib_env.agents.features.seen.Seen`. ``discount`` is the
    factor of the next decision's value: gamma to the number of decisions passed, or 0 if the chain of decisions has
    ended; its inputs and gains are then meaningless.
    """

    inputs: np.ndarray  # (M, n) int8
    card: np.ndarray  # (M,) int64
    reward: np.ndarray  # (M,) float32, without what the card was known to gain
    discount: np.ndarray  # (M,) float32
    next_inputs: np.ndarray  # (M, n) int8
    next_gains: np.ndarray  # (M, 52) float32
    next_is_discard: np.ndarray  # (M,) bool


class Replay(Ring[Transitions]):
    """The last ``capacity`` transitions, drawn uniformly or by priority (Schaul et al. 2016, proportional).

    Args:
        capacity: how many.
        n_inputs: how many a decision has.
        alpha: exponent α of the priorities, the last TD errors; new transitions have the largest so far; 0 is uniform.
        beta: importance-sampling exponent β, from 0 to 1.
    """

    def __init__(self, capacity: int, n_inputs: int, alpha: float = 0.0, beta: float = 1.0) -> None:
        super().__init__(
            Transitions(
                np.zeros((capacity, n_inputs), np.int8),
                np.zeros(capacity, np.int64),
                np.zeros(capacity, np.float32),
                np.zeros(capacity, np.float32),
                np.zeros((capacity, n_inputs), np.int8),
                np.zeros((capacity, N_ACTIONS), np.float32),
                np.zeros(capacity, np.bool_),
            )
        )
        self._alpha, self._beta = alpha, beta
        self._priorities, self._largest = np.zeros(capacity), 1.0

    def add(self, new: Transitions) -> np.ndarray:
        """See :class:`Ring`."""
        places = super().add(new)
        self._priorities[places] = self._largest
        return places

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """``n`` rows, with replacement, and their importance-sampling weights, (n,) float32, at most 1."""
        if not self._alpha:
            return rng.integers(len(self), size=n), np.ones(n, np.float32)
        priorities = self._priorities[: len(self)]
        totals = np.cumsum(priorities)
        rows = np.minimum(np.searchsorted(totals, totals[-1] * rng.random(n), side="right"), len(self) - 1)
        weights = priorities[rows] ** -self._beta
        return rows, (weights / weights.max()).astype(np.float32)

    def rate(self, rows: np.ndarray, errors: np.ndarray) -> None:
        """Sets new priorities from the TD errors (n,) of sampled rows."""
        if self._alpha:
            self._priorities[rows] = (np.abs(errors) + _LEAST_ERROR) ** self._alpha
            self._largest = max(self._largest, self._priorities[rows].max())

    def state_dict(self) -> dict[str, torch.Tensor]:
        """See :class:`Memory`."""
        if not self._alpha:
            return super().state_dict()
        priorities = torch.from_numpy(self._priorities)
        return super().state_dict() | {"priorities": priorities, "largest": torch.tensor(self._largest).double()}

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """See :class:`Memory`."""
        super().load_state_dict(tensors)
        if self._alpha:
            self._priorities[:] = tensors["priorities"].numpy()
            self._largest = float(tensors["largest"])


def _pack(array: np.ndarray) -> np.ndarray:
    return np.packbits(array.view(np.uint8), axis=-1) if array.dtype == np.int8 else array


def _unpack(packed: np.ndarray, like: np.ndarray) -> np.ndarray:
    return np.unpackbits(packed, axis=-1, count=like.shape[-1]) if like.dtype == np.int8 else packed
