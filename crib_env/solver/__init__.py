"""The play as a two-player zero-sum game of imperfect information: public tree, solver and exact best responses."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

_STRETCHES = 13  # for each thread, since they take different times


def in_stretches(n: int, threads: int, do: Callable[[int, int], None]) -> None:
    """Calls ``do(first, last + 1)`` for stretches of the numbers from 0 to n - 1."""
    ends = np.linspace(0, n, _STRETCHES * threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda stretch: do(*stretch), pairwise(ends)))
