"""Numbers for all hands of zero to four ranks: the private information of a player in the play.

A player who says go shows that no low rank is left. So ranks count from the king down here (``KING - rank``), which
puts the hands that are still possible first: hands of k cards without the lowest ``floor`` ranks have the numbers below
``N_HANDS[k, floor]``. Hands with d1 <= d2 <= ... steps below the king have the number C(d1, 1) + C(d2 + 1, 2) + ...
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import NamedTuple

import numpy as np

N_RANKS = 13
KING = 12

N_HANDS = np.array([[comb(12 - floor + k, k) for floor in range(N_RANKS)] for k in range(5)])
"""(5, 13): how many hands of k ranks there are without the lowest ``floor`` ranks; 1, 13, 91, 455, 1820 of all."""


def hand_number(ranks: Iterable[int]) -> int:
    """The number of a hand among those of its size."""
    return sum(comb(KING - rank + k, k + 1) for k, rank in enumerate(sorted(ranks, reverse=True)))


def _hands(k: int) -> np.ndarray:
    hands = sorted(combinations_with_replacement(range(N_RANKS), k), key=hand_number)
    return np.array(hands, np.int64).reshape(len(hands), k)


HANDS = tuple(_hands(k) for k in range(5))
"""For each k, (n_k, k) the ranks of each hand, lowest first."""


class HandTables(NamedTuple):
    """Tables of hands for the kernels, padded to one size for every k."""

    n_hands: np.ndarray
    """``N_HANDS``."""
    with_rank: np.ndarray
    """(4, 13, 455) uint16: ``[k, r, h]`` is the hand of k + 1 ranks that h and r make."""
    without_rank: np.ndarray
    """(5, 13, 1820) int16: ``[k, r, h]`` is the hand of k - 1 ranks that h leaves when r is laid; -1 if it has no r."""
    n_playable: np.ndarray
    """(5, 14, 1820) int8: ``[k, m, h]`` is how many different ranks below m hand h has."""


def _hand_tables() -> HandTables:
    with_rank = np.zeros((4, N_RANKS, N_HANDS[3, 0]), np.uint16)
    without_rank = np.full((5, N_RANKS, N_HANDS[4, 0]), -1, np.int16)
    n_playable = np.zeros((5, N_RANKS + 1, N_HANDS[4, 0]), np.int8)
    for k, hands in enumerate(HANDS):
        for h, hand in enumerate(hands.tolist()):
            if k < 4:
                with_rank[k, :, h] = [hand_number((*hand, rank)) for rank in range(N_RANKS)]
            for place, rank in enumerate(hand):
                without_rank[k, rank, h] = hand_number(hand[:place] + hand[place + 1 :])
            n_playable[k, :, h] = [len({rank for rank in hand if rank < m}) for m in range(N_RANKS + 1)]
    return HandTables(N_HANDS, with_rank, without_rank, n_playable)


HAND_TABLES = _hand_tables()

ORDERINGS = tuple(
    np.array([1 / np.prod([factorial(n) for n in np.bincount(hand, minlength=N_RANKS)]) for hand in hands])
    for hands in HANDS
)
"""For each k, (n_k,) one over the ways to order equal ranks. With a factor of 4 - n for each card drawn from a rank of
which n are gone, it counts the sets of cards that a hand may be."""
