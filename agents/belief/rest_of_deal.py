"""Estimates of the rest of a deal: what the opponent kept, the crib, and the chance to win after the play.

They combine tables of how players discard with the win table. ``expert`` searches with them.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from crib_env.agents.belief.opponent_hands import keeping_weights
from crib_env.engine import DEALER, PONE, ROLES, WIN
from crib_env.exact.discard_statistics import N_POINTS
from crib_env.hands import FOURS, N_FOURS
from crib_env.kernels import bit, kernel
from crib_env.scoring import add_rank, rank_points, show_points
from crib_env.tables.deal_chances import fill_before_crib
from crib_env.tables.shipped import standard_cribs

# The third row of ``Habits.keeping``: in a hand that was dealt, not kept of six, all sets of four are equally likely.
DEALT = len(ROLES)


class Habits(NamedTuple):
    """How players discard, by the role of the player who estimates the opponent's cards."""

    keeping: np.ndarray  # (3, 1820), ``keeping_weights`` of the opponent; then `DEALT`
    discarding: np.ndarray  # (2, 13, 13), how likely it is to discard a given pair of cards, by ranks, up to a factor


@cache
def habits() -> Habits:
    """The habits of the shipped tables."""
    tables, ways = standard_cribs(), np.full((13, 13), 16.0)
    ways[np.diag_indices(13)] = 6.0
    anything = ways / 1326
    return Habits(
        np.stack([*(keeping_weights(tables.kept[other]) for other in (DEALER, PONE)), np.ones(N_FOURS)]),
        np.stack([(0.97 * tables.share[other] + 0.03 * anything) / ways for other in (DEALER, PONE)]),
    )


@kernel
def cards_laid(views, b, by):
    """The mask of the cards that the player (``by`` 0) or the opponent (1) of decision ``b`` has laid."""
    cards = np.int64(0)
    for k in range(views.n_laid[b]):
        if views.laid_by[b, k] == by:
            cards |= bit(views.laid[b, k])
    return cards


@kernel
def crib_chances(own_six, discarded, starter, seen, pair_chances, chances):
    """Fills the probabilities (30,) of the crib's points, from how often the opponent discards each pair of ranks.

    Args:
        own_six, discarded: masks of the own six cards and of the two discards.
        starter: its id.
        seen: mask of every other known card.
        pair_chances: (13, 13) of :class:`Habits`.
    """
    chances[:] = 0.0
    known = own_six | seen | bit(starter)
    total = 0.0
    for first in range(52):
        if (known >> first) & 1:
            continue
        for second in range(first):
            if not (known >> second) & 1:
                weight = pair_chances[first % 13, second % 13]
                chances[show_points(discarded | bit(first) | bit(second), starter, True)] += weight
                total += weight
    chances /= total


@kernel
def fill_after_play(is_dealer, scores, most, own_show, crib, win_table, out):
    """Fills ``out`` (121, 150): the probability of winning, by own score after the play and opponent's after its show.

    It covers scores up to ``most`` points above ``scores`` (both pairs, own first), plus the opponent's show.
    """
    (own_score, score), (own_most, others_most) = scores, most
    last, most_shown = min(own_score + own_most + 1, WIN), min(score + others_most + 1, WIN) + N_POINTS - 1
    here = out[own_score:last, score:most_shown]
    fill_before_crib(own_score + own_show, score, crib, is_dealer, win_table, here)


@kernel
def worth_of_pegging(own, other):
    """The pegging episode's substitute for the chance to win, by scores below 121; nothing follows the play there.

    It is 1/2, plus or minus the same amount for each net point. Pegging out is still worth more.
    """
    return 0.5 + (own - other) / (2 * WIN)


@kernel
def fill_after_pegging(scores, most, out):
    """As :func:`fill_after_play`, by :func:`worth_of_pegging`."""
    (own_score, score), (own_most, others_most) = scores, most
    for own in range(own_score, min(own_score + own_most + 1, WIN)):
        for other in range(score, min(score + others_most + 1, WIN)):
            out[own, other] = worth_of_pegging(own, other)


@kernel
def hand_show(number, starter):
    """Points of a class of four ranks with a starter, without flush and nobs; 0 if there is no starter, and no show."""
    if starter < 0:
        return np.int64(0)
    ranks, sums = add_rank(np.int64(0), np.int64(1), starter % 13)
    for place in range(4):
        ranks, sums = add_rank(ranks, sums, FOURS[number, place])
    return rank_points(ranks, sums)
