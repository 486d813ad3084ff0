"""Replay memory: a ring of transitions in preallocated arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from crib_env.observation import N_ACTIONS


@dataclass(frozen=True)
class Transitions:
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

    def __len__(self) -> int:
        return len(self.card)

    def __getitem__(self, rows: np.ndarray) -> Transitions:
        return Transitions(*(column[rows] for column in vars(self).values()))


class Replay:
    """The last ``capacity`` transitions.

    Args:
        capacity: how many.
        n_inputs: length of an observation.
    """

    def __init__(self, capacity: int, n_inputs: int) -> None:
        self._ring = Transitions(
            np.zeros((capacity, n_inputs), np.int8),
            np.zeros(capacity, np.int64),
            np.zeros(capacity, np.float32),
            np.zeros(capacity, np.float32),
            np.zeros((capacity, n_inputs), np.int8),
            np.zeros((capacity, N_ACTIONS), np.int8),
            np.zeros(capacity, np.bool_),
        )
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, len(self._ring))

    def add(self, new: Transitions) -> None:
        """Appends transitions; the oldest make way."""
        places = (self._added + np.arange(len(new))) % len(self._ring)
        for name, ring in vars(self._ring).items():
            ring[places] = getattr(new, name)
        self._added += len(new)

    def sample(self, n: int, rng: np.random.Generator) -> Transitions:
        """``n`` transitions drawn evenly, with replacement."""
        return self._ring[rng.integers(len(self), size=n)]

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that is held, bits packed, for a checkpoint."""
        held = {name: torch.from_numpy(_pack(ring[: len(self)])) for name, ring in vars(self._ring).items()}
        return {**held, "added": torch.tensor(self._added)}

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self._added = int(tensors["added"])
        for name, ring in vars(self._ring).items():
            ring[: len(self)] = _unpack(tensors[name].numpy(), ring)


def _pack(array: np.ndarray) -> np.ndarray:
    return np.packbits(array.view(np.uint8), axis=1) if array.dtype == np.int8 else array


def _unpack(packed: np.ndarray, like: np.ndarray) -> np.ndarray:
    return np.unpackbits(packed, axis=1, count=like.shape[1]) if like.dtype == np.int8 else packed
