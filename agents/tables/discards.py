"""The value of a discard: what is known exactly of it, and what tables have learned of the rest.

Known is the mean of the show, of four cards over the starters and of the crib beside random cards of the opponent
(:mod:`crib_env.exact.discard_means`). Learned is what these leave out: the pegging, and that the opponent's discards
are not random. It is a sum of two numbers, one for the four ranks kept and one for the two ranks discarded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.exact.discard_means import COMPLETIONS, HAND_SCALE, crib_total, hand_total
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.hands import N_FOURS, PAIR_NUMBER, hand_of_mask
from crib_env.kernels import bit, cards_in, kernel

_N_PAIRS = 91
_OF_ROLE = N_FOURS + 2 * _N_PAIRS
N_LEARNED = 2 * _OF_ROLE
"""Numbers learned: for both roles the hands kept, and the pairs discarded, of two suits and of one."""
N_PARTS = 2  # of what is learned of a discard


class Discards(NamedTuple):
    """What six cards alone tell of their fifteen discards, ordered as
    :data:`crib_env.exact.discard_statistics.PLACES`. A first axis may number deals."""

    hands: np.ndarray
    """(15,) int16, as :func:`crib_env.exact.discard_means.hand_total` has them."""
    cribs: np.ndarray
    """(15,) int32, as :func:`crib_env.exact.discard_means.crib_total` has them."""
    parts: np.ndarray
    """(15, ``N_PARTS``) int16, where the parts of what is learned stand among the numbers of a role."""


def no_discards(*deals: int) -> Discards:
    """Work arrays, for a deal or for ``deals``."""
    shape = (*deals, N_DISCARDS)
    return Discards(np.zeros(shape, np.int16), np.zeros(shape, np.int32), np.zeros((*shape, N_PARTS), np.int16))


@kernel
def fill_discards(six, discards):
    """Fills the :class:`Discards` of six cards (a mask)."""
    cards = cards_in(six, 6)
    k = 0
    for i in range(6):
        for j in range(i + 1, 6):
            kept, is_one_suit = six ^ bit(cards[i]) ^ bit(cards[j]), np.int64(cards[i] // 13 == cards[j] // 13)
            discards.hands[k] = hand_total(kept, six)
            discards.cribs[k] = crib_total(cards[i], cards[j], cards)
            discards.parts[k, 0] = hand_of_mask(kept)
            discards.parts[k, 1] = N_FOURS + is_one_suit * _N_PAIRS + PAIR_NUMBER[cards[i] % 13, cards[j] % 13]
            k += 1


@kernel
def mean_crib(discards, k, is_dealer):
    """The known mean of the crib after discard ``k``, minus that as pone, points."""
    return (1 if is_dealer else -1) * discards.cribs[k] / COMPLETIONS


@kernel
def learned_at(discards, k, part, is_dealer):
    """Where a part of what is learned of discard ``k`` stands; ``is_dealer`` is 0 or 1."""
    return is_dealer * _OF_ROLE + np.int64(discards.parts[k, part])


@kernel
def fill_values(discards, is_dealer, learned, values):
    """Fills the values (15,) of the discards, points.

    Args:
        is_dealer: 0 or 1.
        learned: (``N_LEARNED``,) float32 points.
    """
    for k in range(N_DISCARDS):
        values[k] = HAND_SCALE * np.int64(discards.hands[k]) / COMPLETIONS + mean_crib(discards, k, is_dealer)
        for part in range(N_PARTS):
            values[k] += learned[learned_at(discards, k, part, is_dealer)]
