"""Exact means over all deals of the values of twelve cards, as :mod:`crib_env.evaluate.skill.luck.usual_deal` has them.

A hand depends only on the six cards it comes from, so its mean is that over the 46 starters. Crib and play depend on
the cards of both players: their means are sums over all pairs of disjoint hands.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from crib_env.engine import DEALER, PONE
from crib_env.evaluate.skill.luck.usual_deal import (
    PLAYS,
    SHARES,
    crib_rank_total,
    new_scratch,
    usual_discards,
    usual_play,
)
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, class_sizes, representatives
from crib_env.exact.discard_means import STARTERS, hand_total
from crib_env.exact.disjoint_hands import N_DISJOINT, disjoint_total
from crib_env.hands import FOUR_MASKS, FOURS, HANDS, N_FOURS, PAIR_NUMBER, hand_number, hand_of_mask
from crib_env.kernels import cards_in, kernel
from crib_env.tables.discard_values import DiscardValues


@kernel
def _choose(sixes, role, values, kept, discarded, weights, hands):
    """For each six cards (N,) and both of their discards: hand kept, ranks discarded, weight and hand total."""
    pairs = np.zeros(2, np.int64)
    for n in range(len(sixes)):
        usual_discards(sixes[n], role, values, pairs, weights[n])
        for k in range(2):
            kept[n, k] = hand_of_mask(sixes[n] ^ pairs[k])
            two = cards_in(pairs[k], 2) % 13
            discarded[n, k] = PAIR_NUMBER[two[0], two[1]]
            hands[n, k] = hand_total(sixes[n] ^ pairs[k], sixes[n])


@kernel
def _play_all(scratch, first, points):
    """Points (P, 1820, 2) of the plays of ``PLAYS`` pairs of players, for pone's hands from ``first`` on."""
    held, played = np.empty(13, np.int64), np.empty((PLAYS, 2), np.int64)
    for i in range(len(points)):
        for j in range(N_FOURS):
            held[:] = 0
            for k in range(4):
                held[FOURS[first + i, k]] += 1
                held[FOURS[j, k]] += 1
            if held.max() <= 4:  # else no deal has these ranks, and their values cancel out
                usual_play(FOUR_MASKS[first + i], FOUR_MASKS[j], scratch, played)
                for play in range(PLAYS):
                    for role in range(2):
                        points[i, j, role] += played[play, role]


def _crib_table() -> np.ndarray:
    """(91, 91) rank points of two discarded pairs, over 48 starters, by their ranks."""
    of_hand = np.array([crib_rank_total(four) for four in FOUR_MASKS])
    four = np.concatenate(np.broadcast_arrays(HANDS[2][:, None], HANDS[2]), axis=-1)
    return of_hand[hand_number(four)]


def exact_means(values: DiscardValues, on_progress: Callable[[int], None] = lambda done: None) -> list[Fraction]:
    """The mean over all deals of each of ``PARTS``, in points; takes some minutes.

    Args:
        on_progress: called with the number of further steps done, of :func:`steps_of_means` in all.
    """
    sixes, sizes = representatives(), class_sizes()
    kept, discarded, weights, hands = (np.zeros((2, N_CLASSES, 2), np.int64) for _ in range(4))
    for role in (PONE, DEALER):
        _choose(sixes, role, values, kept[role], discarded[role], weights[role], hands[role])
        on_progress(1)
    play = np.zeros((N_FOURS, N_FOURS, 2), np.int64)
    for first in range(0, N_FOURS, _ROWS):
        _play_all(new_scratch(), first, play[first : first + _ROWS])
        on_progress(1)

    def hand(role: int) -> Fraction:
        total = int(((hands[role] * weights[role]).sum(axis=1) * sizes).sum())
        return Fraction(total, SHARES * STARTERS * N_DEALS)

    def disjoint(features: np.ndarray, table: np.ndarray, scale: int) -> Fraction:
        total = disjoint_total(features[PONE], weights[PONE], features[DEALER], weights[DEALER], table)
        on_progress(1)
        return Fraction(total, SHARES * SHARES * scale * N_DISJOINT)

    heels = Fraction(2 * 4, 52)
    return [
        hand(PONE),
        hand(DEALER) + heels,
        disjoint(discarded, _crib_table(), 48),
        disjoint(kept, play[..., PONE], PLAYS),
        disjoint(kept, play[..., DEALER], PLAYS),
    ]


_ROWS = 20  # number of pone's hands in a step


def steps_of_means() -> int:
    """How many steps :func:`exact_means` takes."""
    return 2 + N_FOURS // _ROWS + 3
