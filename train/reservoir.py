"""A sample of everything that was ever added, as those who average over a whole training keep it."""

from __future__ import annotations

import numpy as np

from crib_env.train.experience import C, Memory


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
