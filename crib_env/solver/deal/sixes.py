"""Six cards by rank, and what may be kept of them.

There are 18,395 kinds of six: sets of six ranks, at most four of each. A *choice* is a kind and the two ranks that are
discarded of it. The play and most of the show depend on no more than this; see :mod:`crib_env.solver.deal.shows` for
what suits add.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np

from crib_env.hands import N_FOURS, N_HANDS, N_RANKS, RANK_COUNTS, hand_number
from crib_env.kernels import kernel

N_PAIRS = int(N_HANDS[2, 0])
"""Sets of two ranks, 91."""
N_CHOICES = 165_295
WAYS = np.array([[comb(left, n) for n in range(5)] for left in range(5)], np.float64)
"""(5, 5): the ways to take n cards of a rank of which so many are left."""


class Sixes(NamedTuple):
    """K = 18,395 kinds of six, and C = 165,295 choices; those of a kind stand one after the other."""

    counts: np.ndarray
    """(K, 13) int8: how many cards of each rank."""
    parts: np.ndarray
    """(K, 6, 2) int8: the ranks of each kind and how many cards of them, then zeros."""
    first: np.ndarray
    """(K + 1,) int64: the first choice of each kind, and C."""
    six: np.ndarray
    """(C,) int64: the kind of each choice."""
    kept: np.ndarray
    """(C,) int64: the number of the hand kept (:data:`crib_env.hands.FOURS`)."""
    discards: np.ndarray
    """(C,) int64: the number of the two ranks discarded, of ``HANDS[2]``."""
    choice: np.ndarray
    """(1820, 91) int64: the choice by what is kept and discarded, or -1 where a rank would have five cards."""

    def ways(self) -> np.ndarray:
        """(K,) how many sets of six cards each kind stands for, 20,358,520 in all."""
        return WAYS[4, self.counts].prod(axis=1)


@cache
def sixes() -> Sixes:
    """All kinds and choices."""
    ranks = np.array([six for six in combinations_with_replacement(range(N_RANKS), 6) if _at_most_four(six)])
    counts = (ranks[:, :, None] == np.arange(N_RANKS)).sum(axis=1).astype(np.int8)
    parts = np.zeros((len(ranks), 6, 2), np.int8)
    for row, of_rank in zip(parts, counts):
        held = of_rank.nonzero()[0]
        row[: len(held), 0], row[: len(held), 1] = held, of_rank[held]
    both = RANK_COUNTS[4][:, None] + RANK_COUNTS[2]
    possible = both.max(axis=2) <= 4
    key = {row.tobytes(): six for six, row in enumerate(counts)}
    kept, discards = possible.nonzero()
    six = np.array([key[row.tobytes()] for row in both[possible]])
    order = np.argsort(six, kind="stable")
    choice = np.full((N_FOURS, N_PAIRS), -1)
    choice[kept[order], discards[order]] = np.arange(len(order))
    first = np.searchsorted(six[order], np.arange(len(ranks) + 1))
    return Sixes(counts, parts, first, six[order], kept[order], discards[order], choice)


def _at_most_four(ranks: tuple[int, ...]) -> bool:
    return all(low != high for low, high in zip(ranks, ranks[4:]))


def number_of_six(ranks: np.ndarray) -> np.ndarray:
    """The kinds (N,) of six ranks (N, 6)."""
    all_sixes = sixes()
    return all_sixes.six[all_sixes.choice[hand_number(ranks[:, :4]), hand_number(ranks[:, 4:])]]


@kernel
def fill_ways(parts, left, ways):
    """Fills ``ways`` (K,) with how many sets of cards each kind may be; ``left`` (13,) cards of each rank are left."""
    for six in range(len(parts)):
        product = 1.0
        for k in range(6):
            n = parts[six, k, 1]
            if n == 0:
                break
            product *= WAYS[left[parts[six, k, 0]], n]
        ways[six] = product
