"""What a discard shows: the hand's points with their suits, and the crib's beside what the opponent discards.

The hand is exact. The crib counts ranks exactly: the opponent's six cards are among those that the player does not
hold, its discards are as likely as its policy makes them, and the starter is none of the twelve. His nobs is exact for
the player's own jacks. Two things are approximate: the opponent's discards are taken to be of any suit (a flush in the
crib, which adds at most 0.055 points to a choice), and its jacks to match the starter's suit as often as any jack does.
The second is the same for all choices of a player and right on average over all deals.
"""

from __future__ import annotations

from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np

from crib_env.cards import JACK
from crib_env.engine import DEALER
from crib_env.exact.deal_classes import representatives
from crib_env.exact.discard_means import STARTERS, THREE_CARDS, show_total
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.hands import HANDS, PAIR_NUMBER, hand_of_mask
from crib_env.kernels import bit, cards_in, kernel, popcount
from crib_env.scoring import SUIT
from crib_env.solver import in_stretches
from crib_env.solver.deal.sixes import N_PAIRS, fill_ways, sixes

HEELS = 2 * 4 / 52
"""Points a deal that the dealer makes by his heels."""
_NOBS = 12 / 51  # how often a starter has the suit of a jack
_PAIRS = HANDS[2]
_SIDE = 8  # sixes side by side, which suits vector registers
_FLUSH = np.array([5 * comb(n, 3) / comb(STARTERS, 3) for n in range(14)])  # by cards of the suit that nobody has seen


class Choices(NamedTuple):
    """The fifteen discards of N deals of six cards, in the order of
    :data:`crib_env.exact.discard_statistics.PLACES`."""

    choice: np.ndarray
    """(N, 15) int32, of :class:`crib_env.solver.deal.sixes.Sixes`."""
    hand: np.ndarray
    """(N, 15) float32, mean points of the hand over the 46 starters."""
    suited: np.ndarray
    """(N, 15) float32, mean points that the suits of the discards bring the crib: his nobs and a flush."""


def discard_totals(role: int, cribs: np.ndarray, play: np.ndarray, deals: Choices) -> np.ndarray:
    """(N, 15) float32, what each discard of N deals is worth: its hand, plus or minus the crib, and the play.

    Args:
        role: ``PONE`` or ``DEALER``.
        cribs: (C,) of :func:`crib_means`.
        play: (C,) net points of the play.
        deals: of :func:`choices_of`.
    """
    sign = np.float32(1 if role == DEALER else -1)
    totals: np.ndarray = deals.hand + sign * deals.suited
    totals += (sign * cribs + play).astype(np.float32)[deals.choice]
    return totals


@cache
def choices() -> Choices:
    """Of all classes. Takes some seconds, and 170 MB."""
    return choices_of(representatives())


def choices_of(masks: np.ndarray) -> Choices:
    """The same of some deals of six cards (N,), as masks."""
    shape = len(masks), N_DISCARDS
    found = Choices(np.empty(shape, np.int32), np.empty(shape, np.float32), np.empty(shape, np.float32))
    _fill_choices(masks, sixes().choice, found)
    return found


@kernel
def _fill_choices(masks, choice_of, found):
    for c in range(len(masks)):
        six = masks[c]
        cards = cards_in(six, 6)
        for k in range(N_DISCARDS):
            first, second = cards[PLACES[k, 0]], cards[PLACES[k, 1]]
            kept = six ^ bit(first) ^ bit(second)
            found.choice[c, k] = choice_of[hand_of_mask(kept), PAIR_NUMBER[first % 13, second % 13]]
            found.hand[c, k] = show_total(kept, six, False) / STARTERS
            found.suited[c, k] = _of_suits(first, second, six)


@kernel
def _of_suits(first, second, six):
    points = 0.0
    for card in (first, second):
        if card % 13 == JACK:
            points += (13 - _of_suit(six, card // 13)) / STARTERS
    if first // 13 == second // 13:
        points += _FLUSH[13 - _of_suit(six, first // 13)]
    return points


@kernel
def _of_suit(six, suit):
    return popcount((six >> (13 * suit)) & SUIT)


def crib_means(chances: np.ndarray, threads: int = 2) -> np.ndarray:
    """(C,) mean points of the crib after each choice, without what the suits of the player's own discards add.

    Args:
        chances: (C,) how likely the opponent makes each choice, if it is dealt the kind.
        threads: how many; they do not change the result.
    """
    kinds, made = sixes(), chances.nonzero()[0]
    means = np.zeros(len(kinds.six))

    def fill(first: int, last: int) -> None:
        _fill_cribs(kinds, made, chances, first, last, means)

    in_stretches(len(kinds.parts), threads, fill)
    return means


@kernel
def _fill_cribs(kinds, made, chances, first, last, means):
    of_one, ways = np.empty(len(kinds.parts)), np.zeros((len(kinds.parts), _SIDE))
    left = np.empty(13, np.int64)
    pairs, held, cuts = np.empty((N_PAIRS, _SIDE)), np.empty((N_PAIRS, 13, _SIDE)), np.empty((N_PAIRS, 13))
    for start in range(first, last, _SIDE):
        sixes_here = range(start, min(start + _SIDE, last))
        for six in sixes_here:
            for rank in range(13):
                left[rank] = 4 - kinds.counts[six, rank]
            fill_ways(kinds.parts, left, of_one)
            ways[:, six - start] = of_one
        _add_discards(kinds, made, chances, ways, pairs, held)
        for six in sixes_here:
            lane = six - start
            total = pairs[:, lane].sum()
            for two in range(N_PAIRS):
                for rank in range(13):
                    n = 4 - kinds.counts[six, rank]
                    cuts[two, rank] = (n * pairs[two, lane] - held[two, rank, lane]) / (40 * total)
            for choice in range(kinds.first[six], kinds.first[six + 1]):
                means[choice] = _crib_mean(kinds.discards[choice], cuts)


@kernel
def _add_discards(kinds, made, chances, ways, pairs, held):
    """For some known sixes side by side: in how many deals the opponent discards each two ranks, ``pairs`` (91, n), and
    how many cards of each rank it has been dealt then, ``held`` (91, 13, n), both times its chances."""
    pairs[:] = 0.0
    held[:] = 0.0
    weights = np.empty(_SIDE)
    for choice in made:
        other, two = kinds.six[choice], kinds.discards[choice]
        for lane in range(_SIDE):
            weights[lane] = chances[choice] * ways[other, lane]
            pairs[two, lane] += weights[lane]
        for k in range(6):
            rank, n = kinds.parts[other, k, 0], kinds.parts[other, k, 1]
            if n == 0:
                break
            for lane in range(_SIDE):
                held[two, rank, lane] += n * weights[lane]


@kernel
def _crib_mean(own, cuts):
    """``cuts`` (91, 13) is how likely the opponent discards each two ranks and a starter of each rank is cut."""
    mean = 0.0
    for other in range(N_PAIRS):
        first, second = _PAIRS[other, 0], _PAIRS[other, 1]
        nobs = _NOBS * ((first == JACK) + (second == JACK))
        for starter in range(13):
            if cuts[other, starter] > 0:
                mean += cuts[other, starter] * (THREE_CARDS[own, first, second, starter] + nobs)
    return mean
