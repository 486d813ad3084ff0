"""Replay: rows of experience in arrays, and memories to sample them from."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from crib_env.observation import N_ACTIONS

C = TypeVar("C", bound="Columns")

# The columns of experience that have a shape of their own, and types; all others are float32 numbers.
_SHAPES: dict[str, tuple[int, ...]] = {"gains": (N_ACTIONS,)}
_TYPES = {"inputs": np.int8, "card": np.int64, "is_discard": np.bool_}


class Columns:
    """Shared parts of dataclasses of arrays of one length."""

    @classmethod
    def zeros(cls: type[C], *shape: int) -> C:
        """Rows to be written over; the last number is how many inputs they have."""
        *rows, n = shape
        columns: dict[str, np.ndarray] = {}
        for field in fields(cls):  # type: ignore[arg-type]  # a dataclass
            name = field.name.removeprefix("next_")
            columns[field.name] = np.zeros(
                (*rows, *({"inputs": (n,)} | _SHAPES).get(name, ())), _TYPES.get(name, np.float32)
            )
        return cls(**columns)

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def __getitem__(self: C, rows: Any) -> C:
        return type(self)(*(column[rows] for column in vars(self).values()))


class Memory(Generic[C]):
    """Rows to sample from; the newest replace the oldest. A subclass may replace others.

    Columns of int8 are zeros and ones: eight are kept in a byte, but not on a GPU.

    Args:
        rows: of zeros, as many as the capacity.
        device: where they are kept: arrays on the processor, or tensors on a GPU, ``"cuda"``.
    """

    def __init__(self, rows: C, device: str = "cpu") -> None:
        self._capacity, self._like, self._device = len(rows), rows[:1], device
        self._held: dict[str, Any] = {}
        for name, column in vars(self._like).items():
            one = self._kept(column)
            empty = np.zeros if device == "cpu" else partial(torch.zeros, device=device)
            self._held[name] = empty((len(rows), *one.shape[1:]), dtype=one.dtype)
        self._added = 0

    def _kept(self, column: Any) -> Any:
        """A column as it is kept."""
        return _pack(column) if self._device == "cpu" else torch.as_tensor(column, device=self._device)

    def __len__(self) -> int:
        return min(self._added, self._capacity)

    @property
    def filled(self) -> float:
        """The share of its rows that it holds."""
        return len(self) / self._capacity

    def __getitem__(self, rows: np.ndarray) -> C:
        like = vars(self._like)
        found = {name: column[rows] for name, column in self._held.items()}
        if self._device == "cpu":
            found = {name: _unpack(column, like[name]) for name, column in found.items()}
        return type(self._like)(**found)

    def add(self, new: C) -> None:
        """Adds rows."""
        self._put(new, (self._added + np.arange(len(new))) % self._capacity)
        self._added += len(new)

    def _put(self, new: C, places: np.ndarray) -> None:
        for name, column in self._held.items():
            column[places] = self._kept(getattr(new, name))

    def sample(self, n: int, rng: np.random.Generator) -> C:
        """``n`` rows sampled uniformly, with replacement."""
        return self[rng.integers(len(self), size=n)]

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The rows held and their number, for a checkpoint."""
        held = {name: column[: len(self)] for name, column in self._held.items()}
        if self._device != "cpu":
            held = {name: _pack(column.cpu().numpy()) for name, column in held.items()}
        return {**{name: torch.from_numpy(column) for name, column in held.items()}, "added": torch.tensor(self._added)}

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`; ``ValueError`` if they do not fit this memory."""
        self._added = max(0, int(tensors["added"]))
        for name, column in self._held.items():
            found, like = tensors[name].numpy(), vars(self._like)[name]
            wanted = len(self), *_pack(like).shape[1:]
            if found.shape != wanted:
                raise ValueError(f"{name} has the shape {list(found.shape)}, not {list(wanted)}")
            column[: len(self)] = self._kept(_unpack(found, like)) if self._device != "cpu" else found


class Reservoir(Memory[C]):
    """As many as fit of all rows added, each kept with the same probability (Vitter 1985, algorithm R)."""

    def add_sample(self, new: C, rng: np.random.Generator) -> None:
        """Adds rows; the k-th ever added is kept with probability capacity / k, and replaces a random one."""
        capacity = self._capacity
        number = self._added + np.arange(len(new))  # of rows added before each
        places = np.where(number < capacity, number, rng.integers(number + 1))
        stays = places < capacity
        self._put(new[stays], places[stays])  # if two have the same place, the later one is written last
        self._added += len(new)


def _pack(array: np.ndarray) -> np.ndarray:
    return np.packbits(array.view(np.uint8), axis=-1) if array.dtype == np.int8 else array


def _unpack(packed: np.ndarray, like: np.ndarray) -> np.ndarray:
    return np.unpackbits(packed, axis=-1, count=like.shape[-1]).view(np.int8) if like.dtype == np.int8 else packed
