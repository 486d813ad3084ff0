"""Six cards by rank, what may be kept of them, what that shows, and what both players hold then.

There are 18,395 kinds of six: sets of six ranks, at most four of each. A *choice* is a kind and the two ranks that are
discarded of it. The play and most of the show depend on no more than this.

The hand shows its exact points, with its suits. The crib counts ranks exactly: the opponent's six cards are among those
that the player does not hold, its discards are as likely as its policy makes them, and the starter is none of the
twelve. His nobs is exact for the player's own jacks. Two things are approximate: the opponent's discards are taken to
be of any suit (a flush in the crib, which adds at most 0.055 points to a choice), and its jacks to match the starter's
suit as often as any jack does. The second is the same for all choices of a player and right on average over all deals.

Neither player holds what the other has discarded, and both discard by what they were dealt. So pairs of hands are
counted over all deals: of six cards each and a starter, by rank.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np

from crib_env.cards import JACK
from crib_env.engine import DEALER
from crib_env.exact.deal_classes import class_sizes, representatives
from crib_env.exact.discard_means import STARTERS, THREE_CARDS, show_total
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.hands import HANDS, N_FOURS, N_HANDS, N_RANKS, PAIR_NUMBER, RANK_COUNTS, hand_of_mask
from crib_env.kernels import bit, cards_in, kernel, popcount
from crib_env.scoring import SUIT
from crib_env.solver import in_stretches

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


@kernel
def fill_ways(kinds, known, starter, ways):
    """Fills ``ways`` (K,) with how many sets of cards each kind may be, beside six ``known`` cards (their kind) and a
    starter of a rank, or -1 for none."""
    left, parts = np.empty(N_RANKS, np.int64), kinds.parts
    for rank in range(N_RANKS):
        left[rank] = 4 - kinds.counts[known, rank] - (rank == starter)
    for six in range(len(parts)):
        product = 1.0
        for k in range(6):
            n = parts[six, k, 1]
            if n == 0:
                break
            product *= WAYS[left[parts[six, k, 0]], n]
        ways[six] = product


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
    """(N, 15) int32, of :class:`crib_env.solver.deal.kinds.Sixes`."""
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
    pairs, held, cuts = np.empty((N_PAIRS, _SIDE)), np.empty((N_PAIRS, 13, _SIDE)), np.empty((N_PAIRS, 13))
    for start in range(first, last, _SIDE):
        sixes_here = range(start, min(start + _SIDE, last))
        for six in sixes_here:
            fill_ways(kinds, six, -1, of_one)
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


_AT_ONCE = 128  # kinds of six, whose 13 MB stay in the processor's cache


def by_choice(chances: np.ndarray) -> np.ndarray:
    """(C,) how likely each choice is made, if its kind is dealt, in the mean over all suits.

    Args:
        chances: (962988, 15) how likely each discard of a class is made.
    """
    kinds, deals = sixes(), chances * class_sizes()[:, None]
    found = np.bincount(choices().choice.ravel(), deals.ravel(), len(kinds.six))
    return found / kinds.ways()[kinds.six]


def kept(chances: np.ndarray, starter: int) -> np.ndarray:
    """(1820,) how often each hand is kept beside a starter: 1 in the mean, if all choices of a kind add up to 1.

    Args:
        chances: (C,) of :func:`by_choice`.
        starter: its rank.
    """
    kinds = sixes()
    deals = WAYS[4 - (np.arange(N_RANKS) == starter), kinds.counts].prod(axis=1)
    found = np.bincount(kinds.kept, chances * deals[kinds.six], N_FOURS)
    return found * (N_FOURS / deals.sum())


@kernel
def fill_hands(chances, made, six, starter, kinds, ways, hands):
    """Fills ``hands`` (1820,) with in how many deals a player holds each hand beside a starter and six known cards.

    Args:
        chances: (C,) of :func:`by_choice`; ``made`` lists those above 0.
        six: the kind of the known cards.
        starter: its rank, of which fewer than four are known.
        ways: (K,) float64, to work in.
    """
    fill_ways(kinds, six, starter, ways)
    hands[:] = 0
    for choice in made:
        hands[kinds.kept[choice]] += chances[choice] * ways[kinds.six[choice]]


def meetings(chances: np.ndarray, of_other: np.ndarray, threads: int = 2) -> np.ndarray:
    """(13, 1820, 1820) float32 in how many deals hands meet, by the starter's rank, the own hand and the other role's
    hand; on a scale of its own for each own hand.

    A hand that is never kept is counted as if it always were.

    Args:
        chances: (C,) how likely a role makes each choice, of :func:`by_choice`.
        of_other: (C,) the same of the other role.
        threads: how many; they do not change the result.
    """
    kinds, made = sixes(), of_other.nonzero()[0]
    is_kept = np.bincount(kinds.kept, chances, N_FOURS) > 0
    own = np.where(is_kept[kinds.kept], chances, 1) * kinds.ways()[kinds.six]
    found = np.zeros((N_RANKS, N_FOURS, N_FOURS), np.float32)
    others = np.zeros((_AT_ONCE, 1 + N_RANKS, N_FOURS), np.float32)

    def fill(first: int, last: int) -> None:
        _fill_others(of_other, made, kinds, start + first, start + last, others[first:])

    def add(first: int, last: int) -> None:
        _add_meetings(own, kinds, start, stop, others, first, last, found)

    for start in range(0, len(kinds.counts), _AT_ONCE):
        stop = min(start + _AT_ONCE, len(kinds.counts))
        in_stretches(stop - start, threads, fill)
        in_stretches(N_FOURS, threads, add)
    return found


@kernel
def _fill_others(chances, made, kinds, first, last, out):
    """Beside each kind of six from ``first`` to ``last - 1``: in how many deals the other keeps each hand, ``out[:,
    0]`` (n, 1820), and how many cards of each rank it was dealt then, summed, ``out[:, 1:]`` (n, 13, 1820)."""
    ways = np.empty(len(kinds.parts))
    for six in range(first, last):
        fill_ways(kinds, six, -1, ways)
        here = out[six - first]
        here[:, :] = np.float32(0)
        for choice in made:
            other, hand = kinds.six[choice], kinds.kept[choice]
            deals = np.float32(chances[choice] * ways[other])
            if deals > 0:
                here[0, hand] += deals
                for k in range(6):
                    rank, n = kinds.parts[other, k, 0], kinds.parts[other, k, 1]
                    if n == 0:
                        break
                    here[1 + rank, hand] += np.float32(n) * deals


@kernel
def _add_meetings(own, kinds, start, stop, others, first, last, found):
    """Adds the deals in which hands ``first`` to ``last - 1`` are kept of kinds ``start`` to ``stop - 1``. A starter of
    some rank is cut in as many ways as cards of it are left."""
    for hand in range(first, last):
        for two in range(N_PAIRS):
            choice = kinds.choice[hand, two]
            if choice < 0 or not start <= kinds.six[choice] < stop:
                continue
            here = others[kinds.six[choice] - start]
            for starter in range(N_RANKS):
                left = np.float32(4 - kinds.counts[kinds.six[choice], starter])
                deals = np.float32(own[choice])
                if left > 0 and deals > 0:
                    for other in range(N_FOURS):
                        found[starter, hand, other] += deals * (left * here[0, other] - here[1 + starter, other])
