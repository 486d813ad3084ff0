"""A memory that holds an even sample of all that was ever added to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crib_env.observation import N_ACTIONS
from train.replay import Columns, Memory


@dataclass(frozen=True)
class Choices(Columns):
    """M decisions and what was chosen."""

    observation: np.ndarray  # (M, n) int8
    mask: np.ndarray  # (M, 52) int8
    card: np.ndarray  # (M,) int64


class Reservoir(Memory[Choices]):
    """``capacity`` of all choices added, each with the same chance to be among them (Vitter 1985, algorithm R).

    Args:
        capacity: how many.
        n_inputs: length of an observation.
    """

    def __init__(self, capacity: int, n_inputs: int) -> None:
        super().__init__(
            Choices(
                np.zeros((capacity, n_inputs), np.int8),
                np.zeros((capacity, N_ACTIONS), np.int8),
                np.zeros(capacity, np.int64),
            )
        )

    def add(self, new: Choices, rng: np.random.Generator) -> None:
        """Adds choices; the k-th ever added stays with a chance of capacity / k, in the place of any other."""
        capacity = len(self._rows)
        number = self._added + np.arange(len(new))  # of choices before each
        places = np.where(number < capacity, number, rng.integers(number + 1))
        stays = places < capacity
        self._put(new[stays], places[stays])  # of two for one place the later one is written last
        self._added += len(new)
