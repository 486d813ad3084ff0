"""What is known exactly of the discards of six cards, computed once for each class of deals.

It is the same for deals that differ only in the names of their suits (:mod:`crib_env.exact.deal_classes`). Training in
whole deals takes half the time with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.agents.mmd_tables import N_PARTS, Discards, fill_discards, no_discards
from crib_env.exact.discard_statistics import PLACE_OF
from crib_env.kernels import bit, kernel, lowest, mix, popcount
from crib_env.scoring import SUIT

_PLACES = 1 << 21  # of a hash table, twice as many as there are classes


class KnownDiscards(NamedTuple):
    """A hash table of the classes that have come up, 0.3 GB."""

    six: np.ndarray
    """(2**21,) int64, the mask of the class's deal with its suits in order, or 0."""
    discards: Discards
    """(2**21, ...) of that deal."""
    suits: np.ndarray
    """(4,) int64 work array: the new names of a deal's suits."""
    places: np.ndarray
    """(6,) int64 work array: which card, in ascending order, each becomes."""


def no_known_discards() -> KnownDiscards:
    """An empty table."""
    return KnownDiscards(
        np.zeros(_PLACES, np.int64), no_discards(_PLACES), np.zeros(4, np.int64), np.zeros(6, np.int64)
    )


@kernel
def _with_suits_in_order(six, suits):
    """The same cards with their suits in descending order of their ranks' masks; fills ``suits`` with the new names."""
    renamed = np.int64(0)
    for old in range(4):
        ranks, new = (six >> 13 * old) & SUIT, 0
        for other in range(4):
            others = (six >> 13 * other) & SUIT
            new += others > ranks or (others == ranks and other < old)
        suits[old] = new
        renamed |= ranks << 13 * new
    return renamed


@kernel
def _place_of(six, known):
    """The place of a deal in the table, filled if it was not."""
    last = np.uint64(_PLACES - 1)
    place = mix(np.uint64(six)) & last
    while known.six[np.int64(place)] != six:
        at = np.int64(place)
        if known.six[at] == 0:
            known.six[at] = six
            of_all = known.discards
            fill_discards(six, Discards(of_all.hands[at], of_all.cribs[at], of_all.parts[at]))
        else:
            place = (place + np.uint64(1)) & last
    return np.int64(place)


@kernel
def look_up_discards(six, known, discards):
    """Fills the :class:`Discards` of six cards (a mask) from the table."""
    renamed, rest = _with_suits_in_order(six, known.suits), six
    for i in range(6):
        card = lowest(rest)
        rest &= rest - 1
        known.places[i] = popcount(renamed & (bit(13 * known.suits[card // 13] + card % 13) - 1))
    at, k = _place_of(renamed, known), 0
    for i in range(6):
        for j in range(i + 1, 6):
            there = PLACE_OF[known.places[i], known.places[j]]
            discards.hands[k], discards.cribs[k] = known.discards.hands[at, there], known.discards.cribs[at, there]
            for part in range(N_PARTS):
                discards.parts[k, part] = known.discards.parts[at, there, part]
            k += 1
