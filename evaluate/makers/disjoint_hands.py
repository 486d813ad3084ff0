"""Exact sums over all 190,694,571,801,880 pairs of six-card hands that share no card, without visiting each pair.

A hand has weights on a few numbered features, such as the ranks it discards. A table holds a value for each pair of
features. The sum over disjoint hands follows by inclusion and exclusion over the cards S that both hands hold::

    sum over S of (-1)^|S| * (features of all first hands with S) * table * (features of all second hands with S)

Sets S that differ only in suits give the same term, so one set of each class is enough.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np

from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, representatives
from crib_env.kernels import bit, kernel, lowest, popcount
from crib_env.scoring import SUIT

N_DISJOINT = N_DEALS * comb(46, 6)
"""Ordered pairs of disjoint six-card hands."""

_HELD = 6
# Ways to choose k of n cards; the number of a set of cards is the sum of comb(card, place), places from 1.
_COMB = np.array([[comb(n, k) for k in range(_HELD + 1)] for n in range(53)], np.int64)


@kernel
def _number(cards):
    """The number of a set of six cards (a mask) among all of them."""
    number, place = np.int64(0), 1
    while cards:
        number += _COMB[lowest(cards), place]
        cards &= cards - 1
        place += 1
    return number


@kernel
def _in_order(cards):
    """The same cards (a mask) with suits renamed so that their rank masks descend."""
    suits = np.empty(4, np.int64)
    for suit in range(4):
        suits[suit] = (cards >> (13 * suit)) & SUIT
    for k in range(1, 4):
        for j in range(k, 0, -1):
            if suits[j] > suits[j - 1]:
                suits[j], suits[j - 1] = suits[j - 1], suits[j]
    return suits[0] | suits[1] << 13 | suits[2] << 26 | suits[3] << 39


@kernel
def _next_choice(places, n):
    """Moves on to the next ascending set of places below ``n``; returns whether there is one."""
    k = len(places)
    for i in range(k - 1, -1, -1):
        if places[i] < n - k + i:
            places[i] += 1
            for j in range(i + 1, k):
                places[j] = places[j - 1] + 1
            return True
    return False


@kernel
def _fill_classes(masks, out):
    """The class of each of the 20,358,520 hands, by its number."""
    places = np.arange(_HELD)
    while True:
        six = np.int64(0)
        for place in places:
            six |= bit(place)
        out[_number(six)] = np.searchsorted(masks, _in_order(six))
        if not _next_choice(places, 52):
            return


@cache
def _classes() -> np.ndarray:
    """(20358520,) int32, see :func:`_fill_classes`; takes some seconds and 80 MB."""
    out = np.empty(N_DEALS, np.int32)
    _fill_classes(representatives(), out)
    return out


@kernel
def _add_holders(shared, classes, features, weights, totals, met):
    """Adds the weights of all hands that hold the ``shared`` cards to ``totals``; returns how many features occur."""
    others, n, k = np.empty(52, np.int64), 0, _HELD - popcount(shared)
    for card in range(52):
        if not (shared >> card) & 1:
            others[n] = card
            n += 1
    places, n_met = np.arange(k), 0
    while True:
        six = shared
        for place in places:
            six |= bit(others[place])
        hand = classes[_number(six)]
        for j in range(features.shape[1]):
            weight = np.int64(weights[hand, j])
            if weight:
                feature = features[hand, j]
                if totals[feature] == 0:
                    met[n_met] = feature
                    n_met += 1
                totals[feature] += weight
        if not _next_choice(places, n):
            return n_met


@kernel
def _sum(size, classes, first, first_weights, second, second_weights, table):
    """The sum over shared sets of one size, by classes of suits."""
    ones, twos = np.zeros(table.shape[0], np.int64), np.zeros(table.shape[1], np.int64)
    met_ones, met_twos = np.empty(table.shape[0], np.int64), np.empty(table.shape[1], np.int64)
    places, total = np.arange(size), np.int64(0)
    while True:
        shared = np.int64(0)
        for place in places:
            shared |= bit(place)
        if _in_order(shared) == shared:
            n = _add_holders(shared, classes, first, first_weights, ones, met_ones)
            m = _add_holders(shared, classes, second, second_weights, twos, met_twos)
            here = np.int64(0)
            for i in range(n):
                row = np.int64(0)
                for j in range(m):
                    row += twos[met_twos[j]] * table[met_ones[i], met_twos[j]]
                here += row * ones[met_ones[i]]
            total += here * _renamings(shared)
            for i in range(n):
                ones[met_ones[i]] = 0
            for j in range(m):
                twos[met_twos[j]] = 0
        if not _next_choice(places, 52):
            return total


@kernel
def _renamings(cards):
    """How many different sets of cards result from renaming the suits of these, whose suits are in order."""
    ways, alike = 24, 1
    for suit in range(1, 4):
        same = (cards >> (13 * suit)) & SUIT == (cards >> (13 * suit - 13)) & SUIT
        alike = alike + 1 if same else 1
        ways //= alike
    return ways


def disjoint_total(
    first: np.ndarray, first_weights: np.ndarray, second: np.ndarray, second_weights: np.ndarray, table: np.ndarray
) -> int:
    """The sum of ``weight * weight * table[feature, feature]`` over all pairs of disjoint hands and their features.

    Args:
        first: (962988, F) features of the first hand, by class (:mod:`crib_env.exact.deal_classes`).
        first_weights: (962988, F) whole numbers from 0; features of weight 0 are ignored.
        second, second_weights: the same for the second hand.
        table: (P, Q) whole numbers: the value for a feature of the first hand and one of the second.

    Raises:
        ValueError: the shapes do not fit, or a feature is not in the table.
    """
    for name, features, weights, end in (
        ("first", first, first_weights, table.shape[0]),
        ("second", second, second_weights, table.shape[1]),
    ):
        if features.shape != weights.shape or len(features) != N_CLASSES or weights.min() < 0:
            raise ValueError(f"{name}: features {features.shape} and weights {weights.shape} do not fit together")
        if features.min() < 0 or features.max() >= end:
            raise ValueError(f"{name}: there are features that the table of shape {table.shape} does not have")
    hands = [np.ascontiguousarray(array, np.int64) for array in (first, first_weights, second, second_weights)]
    values = np.ascontiguousarray(table, np.int64)
    total = 0
    for size in range(_HELD + 1):
        total += (-1) ** size * int(_sum(size, _classes(), *hands, values))
    return total
