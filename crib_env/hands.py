"""Hands of zero to four ranks and their numbers; suits do not matter in the play.

Hands, their ranks lowest first, are numbered in falling order: of four ranks K K K K is 0 and A A A A is 1,819. A
player who says go shows that no low rank is left. So the hands of k cards that are still possible, without the lowest
``floor`` ranks, have the numbers below ``N_HANDS[k, floor]``.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb, factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crib_env.cards import ACES
from crib_env.kernels import kernel, popcount

N_RANKS = 13
KING = 12
_ALL_RANKS = np.int64((1 << N_RANKS) - 1)
N_FOURS = 1_820
"""Hands of four ranks."""

_STEPS = np.array([[comb(KING - rank + k, k + 1) for rank in range(N_RANKS)] for k in range(4)])

N_HANDS = np.array([[comb(12 - floor + k, k) for floor in range(N_RANKS)] for k in range(5)])
"""(5, 13): how many hands of k ranks there are without the lowest ``floor`` ranks; 1, 13, 91, 455, 1820 of all."""


def _in_order(k: int) -> np.ndarray:
    """(n, k) int64 all ascending sets of k ranks, in the order of their numbers."""
    hands = sorted(combinations_with_replacement(range(N_RANKS), k), reverse=True)
    return np.array(hands, np.int64).reshape(len(hands), k)


HANDS = tuple(_in_order(k) for k in range(5))
"""For each k, (n_k, k) the ranks of each hand by its number, lowest first."""

RANK_COUNTS = tuple((hands[:, :, None] == np.arange(N_RANKS)).sum(axis=1).astype(np.int8) for hands in HANDS)
"""For each k, (n_k, 13) int8 the cards of each rank in each hand."""

FOURS = HANDS[4]
FOUR_SIZES = np.array([comb(4, n) for n in range(5)])[RANK_COUNTS[4]].prod(axis=1)
"""(1820,) how many sets of four cards each hand stands for; 270,725 in all."""

FOUR_MASKS = (np.int64(1) << 13 * np.tril(FOURS[:, :, None] == FOURS[:, None], -1).sum(axis=2) + FOURS).sum(axis=1)
"""(1820,) four cards of each hand, those of a rank in suits from 0."""


def hand_number(ranks: ArrayLike) -> np.ndarray:
    """The numbers (...) of hands (..., k) of ranks, in any order, among those of their size."""
    ordered = np.sort(np.asarray(ranks, np.int64))[..., ::-1]
    numbers: np.ndarray = _STEPS[np.arange(ordered.shape[-1]), ordered].sum(axis=-1)
    return numbers


PAIR_NUMBER = hand_number(np.indices((N_RANKS, N_RANKS)).transpose(1, 2, 0))
"""(13, 13) the number of two ranks, in any order."""


@kernel
def ranks_in(cards):
    """The ranks of cards (a mask), as a set of bits."""
    return (cards | cards >> 13 | cards >> 26 | cards >> 39) & _ALL_RANKS


@kernel
def hand_of_mask(kept):
    """The number of four cards (a mask)."""
    number, k = np.int64(0), np.int64(0)
    for rank in range(KING, -1, -1):
        for _ in range(popcount((kept >> rank) & ACES)):
            number += _STEPS[k, rank]
            k += 1
    return number


def packed(ranks: np.ndarray) -> np.ndarray:
    """Hands (...) int64 of ranks (..., k), four bits to a rank, as :func:`crib_env.scoring.add_rank` packs them."""
    numbers: np.ndarray = (np.int64(1) << 4 * ranks).sum(axis=-1)
    return numbers


class HandTables(NamedTuple):
    """Tables of hand numbers for the kernels, padded to one size for every k."""

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
        n = len(hands)
        if k < 4:
            for rank in range(N_RANKS):
                with_rank[k, rank, :n] = hand_number(np.insert(hands, k, rank, axis=1))
        for place in range(k):
            without_rank[k, hands[:, place], np.arange(n)] = hand_number(np.delete(hands, place, axis=1))
        n_playable[k, 1:, :n] = (RANK_COUNTS[k] > 0).cumsum(axis=1).T
    return HandTables(N_HANDS, with_rank, without_rank, n_playable)


HAND_TABLES = _hand_tables()

ORDERINGS = tuple(1 / np.array([factorial(n) for n in range(5)])[counts].prod(axis=1) for counts in RANK_COUNTS)
"""For each k, (n_k,) one over the ways to order equal ranks. With a factor of 4 - n for each card drawn from a rank of
which n are gone, it counts the sets of cards that a hand may be."""
