"""From the points of a deal, in the order in which they are counted, to the chance to win the game.

His heels come first, then the play, pone's hand, the dealer's hand and the crib; whoever reaches 121 first has won. The
win table covers the deals after this one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.kernels import kernel


class DealChances(NamedTuple):
    """The chances of the points that each part of a deal brings."""

    heels: float  # that a jack is cut
    dealers_play: np.ndarray  # (61,)
    pones_play: np.ndarray  # (61,)
    dealers_hand: np.ndarray  # (30,)
    pones_hand: np.ndarray  # (30,)
    crib: np.ndarray  # (30,)


# How a game can end, seen from the dealer of a deal: the loser has 91 to 120, 61 to 90 (skunk), or 60 or less.
ENDINGS = ("dealer wins", "dealer skunks", "dealer double-skunks", "pone wins", "pone skunks", "pone double-skunks")
MATCH_POINTS = np.array([2, 3, 3, -2, -3, -3])  # ACC, to the dealer


@kernel
def ending_of(dealer, pone):
    """The number in ``ENDINGS`` of a game that is over at these scores."""
    loser = min(dealer, pone)
    size = 2 if loser <= DOUBLE_SKUNK else 1 if loser <= SKUNK else 0
    return size if dealer >= WIN else 3 + size


@kernel
def chance_after_deal(own, other, deals, win_table):
    """A player's chance to win at the end of a deal that it dealt or not; the other deals next.

    Args:
        own, other: the scores, of which at most one is 121 or more.
        deals: whether it dealt.
        win_table: (121, 121) the chance of whoever deals next, by dealer's and pone's score.
    """
    if own >= WIN or other >= WIN:
        return 1.0 if own >= WIN else 0.0
    return 1.0 - win_table[other, own] if deals else win_table[own, other]


@kernel
def scores_after_show(dealer, pone, dealers, pones):
    """The scores of dealer and pone after the show: pone's hand counts first, and then the dealer's hand and crib."""
    pone += pones
    if pone < WIN:
        dealer += dealers
    return dealer, pone


@kernel
def winner_by_hands(own, other, deals):
    """Who has won when both hands are counted, pone's first: 1 the player, 0 the other, -1 nobody yet."""
    pone, dealer = (other, own) if deals else (own, other)
    if pone >= WIN:
        return 0 if deals else 1
    if dealer >= WIN:
        return 1 if deals else 0
    return -1


@kernel
def fill_before_crib(own, other, crib, deals, win_table, out):
    """Fills ``out`` (A, B) with a player's chance to win from own + a and other + b points, with both hands counted, in
    the mean over the crib.

    Args:
        own, other, deals, win_table: as for :func:`chance_after_deal`; the scores may be above 121.
        crib: (30,) chances of the crib's points.
        out: float64.
    """
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            mine, theirs = own + a, other + b
            winner = winner_by_hands(mine, theirs, deals)
            if winner >= 0:
                out[a, b] = winner
                continue
            chance = 0.0
            for points in range(len(crib)):
                if deals:
                    chance += crib[points] * chance_after_deal(mine + points, theirs, True, win_table)
                elif theirs + points < WIN:
                    chance += crib[points] * win_table[mine, theirs + points]
            out[a, b] = chance


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
