"""The exact mean of every discard: of the kept four over the 46 starters, and of the crib.

All values are whole numbers, so discards compare without rounding. A hand total is a sum over the 46
starters, a crib total a sum over all ``COMPLETIONS`` ways to draw two opposing cards and a starter from the
46 unseen cards. Divide by 46 and by 45,540 for means; 990 times a hand total is on the crib total's scale.

The rank points of a crib (fifteens, pairs, runs) depend only on the other three cards, whichever of them is the
starter. Their sum over the 3-card subsets of the unseen cards comes from inclusion and exclusion over the six
cards held. It uses sums over the whole deck with none, one, two or three of the subset's cards fixed: 42 look-ups
for each discard instead of 15,180 evaluations. Those of a hand are a sum over the deck less the cards seen: 7 look-ups.
Flush and nobs have closed forms.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from crib_env.cards import JACK
from crib_env.hands import HANDS, PAIR_NUMBER
from crib_env.kernels import bit, kernel, list_cards, lowest, popcount, scratch
from crib_env.scoring import SUIT, add_rank, rank_points

STARTERS = 46
COMPLETIONS = 46 * 45 // 2 * 44  # 45,540 ways to fill a crib and cut a starter
HAND_SCALE = COMPLETIONS // STARTERS  # 990
EXACT_MEANS = {
    "random": Fraction(60_759, 12_740),  # 4.769
    "ideal": Fraction(11_422_361, 1_377_194),  # 8.294
    "cheating": Fraction(300_743_917, 33_446_140),  # 8.992
}
"""Mean points of a hand over all deals and starters, by players of O'Connor's discard game: ``random`` discards any two
cards, ``ideal`` keeps the four with the best mean, and ``cheating`` knows the starter. ``python -m
crib_env.evaluate.makers.papers oconnor-2000`` computes them."""


def _rank_points_of_five() -> np.ndarray:
    """(13, 13, 13, 13, 13) int8: points of any five ranks; inclusion and exclusion needs five of a kind too."""
    # In plain Python: a kernel would have to be compiled, or loaded, at import.
    add, points_of = (getattr(function, "py_func", function) for function in (add_rank, rank_points))
    hands: dict[tuple[int, ...], tuple[int, int]] = {(): (0, 1)}
    for _ in range(5):
        hands = {
            (*ranks, rank): add(*packed, rank)
            for ranks, packed in hands.items()
            for rank in range(ranks[-1] if ranks else 0, 13)
        }
    points = [points_of(int(counts), sums) for counts, sums in hands.values()]
    table = np.empty((13, 13, 13, 13, 13), np.int8)
    for order in permutations(np.array(list(hands)).T):
        table[order] = points
    return table


def _sums_over_the_deck(three_named: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums of ``three_named`` (P, 13, 13, 13) over 3-card subsets of 52 cards, with two, one and no card fixed.

    (P, 13, 13) with fixed cards of ranks r and s, (P, 13) with a fixed card of rank r, (P,) over all subsets.
    """
    same = np.eye(13, dtype=np.int64)
    left_after_one = 4 - same  # cards of rank z left when a card of rank r is fixed
    left_after_two = 4 - same[:, None, :] - same[None, :, :]
    two = np.einsum("prsz,rsz->prs", three_named.astype(np.int64), left_after_two)
    one = np.einsum("prs,rs->pr", two, left_after_one) // 2  # each subset was counted twice
    none = one.sum(axis=1) * 4 // 3  # four cards of each rank; each subset was counted three times
    return two.astype(np.int32), one.astype(np.int32), none.astype(np.int32)


class CribSums(NamedTuple):
    """Rank points of two discards, by the number of their ranks (P), and three more cards."""

    of_three: np.ndarray
    """(P, 13, 13, 13) int8, by the ranks of these."""
    with_two: np.ndarray
    """(P, 13, 13) int32, summed over subsets of the deck with two cards fixed."""
    with_one: np.ndarray
    """(P, 13) int32, with one fixed."""
    over_all: np.ndarray
    """(P,) int32, over all subsets."""


@cache
def crib_sums() -> CribSums:
    """Sums for the means of cribs."""
    three = np.ascontiguousarray(_rank_points_of_five()[tuple(HANDS[2].T)])
    return CribSums(three, *_sums_over_the_deck(three))


THREE_CARDS, _TWO, _ONE, _NONE = crib_sums()
_DECK = 4 * THREE_CARDS.sum(axis=3, dtype=np.int16)  # with any two more cards, summed over all 52 as the third


@kernel
def show_total(four, seen, crib):
    """Points of four cards in hand or crib, summed over every starter not among the ``seen`` (masks)."""
    rest = four & (four - 1)
    p, rest = PAIR_NUMBER[lowest(four) % 13, lowest(rest) % 13], rest & (rest - 1)
    r, s = lowest(rest) % 13, lowest(rest & (rest - 1)) % 13
    total, rest = np.int64(_DECK[p, r, s]), seen
    while rest:
        total -= THREE_CARDS[p, r, s, lowest(rest) % 13]
        rest &= rest - 1
    for suit in range(4):
        unseen_suit = 13 - popcount(seen & (SUIT << (13 * suit)))
        if four & (SUIT << (13 * suit)) == four:  # flush: five with a starter of the suit, else four in a hand only
            total += 5 * unseen_suit
            if not crib:
                total += 4 * (52 - popcount(seen) - unseen_suit)
        if (four >> (13 * suit + JACK)) & 1:
            total += unseen_suit  # his nobs
    return total


@kernel
def hand_total(kept, six):
    """Points of the four ``kept`` cards of ``six`` (masks), summed over the 46 starters."""
    return show_total(kept, six, False)


@kernel
def crib_total(first, second, cards):
    """Points of a crib with ``first`` and ``second`` of the six ``cards`` (ids), over all completions."""
    p, ranks = PAIR_NUMBER[first % 13, second % 13], scratch(6, np.int64)
    six: Any = 0
    for i in range(6):
        ranks[i] = cards[i] % 13
        six |= bit(cards[i])
    rank_sum = np.int64(_NONE[p])
    for i in range(6):
        rank_sum -= _ONE[p, ranks[i]]
        for j in range(i):
            rank_sum += _TWO[p, ranks[i], ranks[j]]
            for k in range(j):
                rank_sum -= THREE_CARDS[p, ranks[i], ranks[j], ranks[k]]
    total = 3 * rank_sum  # any of the three cards can be the starter

    for suit in range(4):
        unseen_suit, jack = 13 - popcount(six & (SUIT << (13 * suit))), 13 * suit + JACK
        if first // 13 == suit and second // 13 == suit:  # flush of five
            total += 5 * 3 * (unseen_suit * (unseen_suit - 1) * (unseen_suit - 2) // 6)
        if first == jack or second == jack:  # his nobs: any starter of the suit, any two other cards
            total += unseen_suit * (45 * 44 // 2)
        elif not six & bit(jack):  # the opponent discards it and one of 44, and the starter is of its suit
            total += (unseen_suit - 1) * 44
    return total


@kernel
def best_discard_and_total(six, discarded, crib_sign):
    """The pair with the highest exact total of hand and crib, as a mask, and that total on the crib's scale.

    Args:
        six: mask of the six cards dealt.
        discarded: mask of a card already discarded, which the pair must hold, or 0.
        crib_sign: how a point in the crib counts for the player: 1, 0 or -1.

    If totals are equal, the pair that comes first in the order of ids.
    """
    return fill_discard_totals(six, discarded, crib_sign, scratch(6, np.int64), scratch(6, np.int64))


@kernel
def fill_discard_totals(six, discarded, crib_sign, cards, totals):
    """The same, and fills ``cards`` (6,) with the ids of ``six`` and ``totals`` (6,) with the highest total of a pair
    that holds each."""
    list_cards(six, cards)
    totals[:] = np.iinfo(np.int64).min
    best, best_total, found = np.int64(0), np.int64(0), False
    for i in range(6):
        for j in range(i + 1, 6):
            pair = bit(cards[i]) | bit(cards[j])
            if pair & discarded == discarded:
                total = hand_total(six ^ pair, six) * HAND_SCALE
                if crib_sign:
                    total += crib_sign * crib_total(cards[i], cards[j], cards)
                totals[i], totals[j] = max(totals[i], total), max(totals[j], total)
                if not found or total > best_total:
                    best, best_total, found = pair, total, True
    return best, best_total


@kernel
def best_discard(six, discarded, is_dealer):
    """The pair, as a mask, that ``greedy`` discards: the best mean of the hand, plus that of the crib as dealer."""
    return best_discard_and_total(six, discarded, 1 if is_dealer else 0)[0]
