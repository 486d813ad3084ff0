"""From the points that the parts of a deal may bring to the chance to win the game, at any number of scores at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.engine import WIN
from crib_env.kernels import kernel


class DealChances(NamedTuple):
    """The chances of the points that each part of a deal brings."""

    heels: float  # that a jack is cut
    dealers_play: np.ndarray  # (61,)
    pones_play: np.ndarray  # (61,)
    dealers_hand: np.ndarray  # (30,)
    pones_hand: np.ndarray  # (30,)
    crib: np.ndarray  # (30,)


@kernel
def _sum_of(one, other):
    """The chances of the sum of two independent numbers of points, (121,), without sums that win from 0."""
    out = np.zeros(WIN)
    for a in range(len(one)):
        if one[a] != 0:
            for b in range(min(len(other), WIN - a)):
                out[a + b] += one[a] * other[b]
    return out


@kernel
def _below(chances):
    """The chances of fewer points than 0 to 121, (122,)."""
    out = np.zeros(WIN + 1)
    for points in range(WIN):
        out[points + 1] = out[points] + (chances[points] if points < len(chances) else 0.0)
    return out


@kernel
def _highest(chances):
    """The highest number of points that is possible."""
    for points in range(len(chances) - 1, 0, -1):
        if chances[points] != 0:
            return points
    return 0


@kernel
def fill_dealer_wins(deal, dealers, pones, win_table, wins):
    """Fills ``wins`` (N,) with the dealer's chance to win from each of N pairs of scores before a deal.

    The parts of a deal are independent, and each changes one score. So until somebody reaches 121 the two scores stay
    independent, and the chances of each are enough. When both would reach 121 in the play, either is as likely to be
    first.

    Args:
        deal: :class:`DealChances`.
        dealers, pones: (N,) scores. It is quickest when equal scores of the dealer follow each other.
        win_table: (121, 121) the chance of whoever deals next, by dealer's and pone's score.
    """
    heels = np.zeros(3)
    heels[0], heels[2] = 1.0 - deal.heels, deal.heels
    played = _sum_of(heels, deal.dealers_play)
    dealt = _sum_of(_sum_of(played, deal.dealers_hand), deal.crib)
    pone_counted = _sum_of(deal.pones_play, deal.pones_hand)
    after_heels, after_play, after_crib = _below(heels), _below(played), _below(dealt)
    pone_played, pone_after = _below(deal.pones_play), _below(pone_counted)
    most, pones_most = _highest(dealt), _highest(pone_counted)
    goes_on = np.empty(WIN)  # the chance, by pone's score after the deal, that the dealer neither wins in it nor later
    previous, known = np.int64(-1), np.int64(WIN)
    for i in range(len(wins)):
        dealer, pone = np.int64(dealers[i]), np.int64(pones[i])
        need, pones_need = WIN - dealer, WIN - pone
        if dealer != previous:
            previous, known = dealer, np.int64(WIN)
        for score in range(pone, min(known, WIN)):
            goes_on[score] = 0.0
            for points in range(min(most + 1, need)):
                goes_on[score] += dealt[points] * (1.0 - win_table[score, dealer + points])
        known = min(known, pone)
        pone_pegs_out = 1.0 - pone_played[pones_need]
        value = 1.0 - after_heels[need]
        value += (after_heels[need] - after_play[need]) * (1.0 - 0.5 * pone_pegs_out)
        value += (after_play[need] - after_crib[need]) * pone_after[pones_need]
        for points in range(min(pones_most + 1, pones_need)):
            value += pone_counted[points] * goes_on[pone + points]
        wins[i] = value
