"""A buffer that holds a uniform sample of all rows ever added to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crib_env.observation import HAND, KNOWN, N_ACTIONS
from crib_env.train.experience.replay import Columns, Memory


@dataclass(frozen=True)
class Choices(Columns):
    """M decisions and the cards chosen."""

    observation: np.ndarray  # (M, n) int8
    mask: np.ndarray  # (M, 52) int8
    card: np.ndarray  # (M,) int64

    @property
    def is_discard(self) -> np.ndarray:
        """Which of them are discards, (M,) bool: whoever plays holds four cards at most."""
        return self.observation[:, HAND:KNOWN].sum(axis=1) > 4


class Reservoir(Memory[Choices]):
    """``capacity`` of all choices added, each kept with the same probability (Vitter 1985, algorithm R).

    Args:
        capacity: the number of choices.
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
        """Adds choices; the k-th ever added is kept with probability capacity / k, and replaces a random one."""
        capacity = len(self._rows)
        number = self._added + np.arange(len(new))  # of choices added before each
        places = np.where(number < capacity, number, rng.integers(number + 1))
        stays = places < capacity
        self._put(new[stays], places[stays])  # if two have the same place, the later one is written last
        self._added += len(new)
