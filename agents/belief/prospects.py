"""Estimates of the rest of a deal: the opponent's cards, the shows and the crib.

They combine the posterior over the opponent's hands (:mod:`crib_env.agents.belief.opponent_hands`), tables of how
players discard, and the win table. ``expert`` searches with them; the network of ``best`` has them as inputs.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief.lookahead import without_rank
from crib_env.agents.belief.opponent_hands import GREEDY_TYPE, MOST_HANDS, Hands, keeping_weights, posterior
from crib_env.engine import DEALER, PONE, ROLES, WIN
from crib_env.exact.discard_statistics import N_POINTS
from crib_env.hands import CLASS_RANKS, N_RANK_CLASSES
from crib_env.kernels import bit, kernel, lowest, mask_of
from crib_env.scoring import add_rank, rank_points, show_points
from crib_env.tables.deal_chances import fill_before_crib
from crib_env.tables.outlook import outlook
from crib_env.tables.standard import standard_cribs

# Entries of ``Prospects.win``, starting at no points pegged: up to 8 by either player, and for the player at most 14
# more by the card to be laid now (four of a kind and thirty-one).
OWN_POINTS, OTHER_POINTS = 14 + 8 + 1, 8 + 1


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
        np.stack([*(keeping_weights(tables.kept[other]) for other in (DEALER, PONE)), np.ones(N_RANK_CLASSES)]),
        np.stack([(0.97 * tables.share[other] + 0.03 * anything) / ways for other in (DEALER, PONE)]),
    )


@kernel
def who_laid(laid, laid_by):
    """How many cards ``laid`` (8,) holds, the mask of the own ones (``laid_by`` 0) and the mask of the opponent's."""
    n, own, other = np.int64(0), np.int64(0), np.int64(0)
    while n < 8 and laid[n] >= 0:
        if laid_by[n] == 0:
            own |= bit(laid[n])
        else:
            other |= bit(laid[n])
        n += 1
    return n, own, other


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
def class_show(number, starter):
    """Points of a class of four ranks with a starter, without flush and nobs; 0 if there is no starter, and no show."""
    if starter < 0:
        return np.int64(0)
    ranks, sums = add_rank(np.int64(0), np.int64(1), starter % 13)
    for place in range(4):
        ranks, sums = add_rank(ranks, sums, CLASS_RANKS[number, place])
    return rank_points(ranks, sums)


@kernel
def _fill_prospects(views, habits, win_table, out):
    held, weights = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS)
    classes, kinds = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS, np.int64)
    hands = Hands(held, weights, classes, kinds)
    after_play, crib, shows = np.zeros((WIN, WIN + N_POINTS - 1)), np.zeros(N_POINTS), np.zeros(N_POINTS)
    for b in range(len(views.hand)):
        n, own_laid, other_laid = who_laid(views.laid[b], views.laid_by[b])
        kept, discarded = mask_of(views.hand[b]) | own_laid, mask_of(views.discards[b])
        starter = np.int64(views.starter[b])
        is_pegging = starter < 0  # there is no starter, and nothing follows the play
        own_score, score = np.int64(views.scores[b, 0]), np.int64(views.scores[b, 1])
        role, fresh = DEALER if views.is_dealer[b] else PONE, n > 0 and views.pile_start[b] == n
        laid, laid_by = views.laid[b], views.laid_by[b]
        keeping = habits.keeping[DEALT if is_pegging else role]
        size = posterior(kept | discarded, starter, laid, laid_by, n, fresh, keeping, hands)
        shows[:] = 0.0
        last = np.int64(-1)
        points = np.int64(0)
        for k in range(size):
            if classes[k] != last:
                last = classes[k]
                points = class_show(last, starter)
            shows[points] += weights[k]
            if kinds[k] == GREEDY_TYPE:
                out.greedy[b] += weights[k]
            rest = held[k]
            while rest:
                rank = lowest(rest) >> 2
                out.holds[b, rank] += weights[k]
                rest = without_rank(rest, rank)
        most = OWN_POINTS - 1, OTHER_POINTS - 1
        if is_pegging:
            fill_after_pegging((own_score, score), most, after_play)
        else:
            crib_chances(kept | discarded, discarded, starter, other_laid, habits.discarding[role], crib)
            own_show = show_points(kept, starter, False)
            fill_after_play(views.is_dealer[b], (own_score, score), most, own_show, crib, win_table, after_play)
        win = out.win[b]
        for own in range(OWN_POINTS):
            for other in range(OTHER_POINTS):
                if own_score + own >= WIN:
                    win[own, other] = 1.0 if score + other < WIN else 0.5
                elif score + other < WIN:
                    for points in range(1 if is_pegging else N_POINTS):
                        win[own, other] += shows[points] * after_play[own_score + own, score + other + points]


class Prospects(NamedTuple):
    """Estimates for B decisions of the play."""

    holds: np.ndarray  # (B, 13) the probability that the opponent still holds each rank
    greedy: np.ndarray  # (B,) the probability that the opponent is greedy
    win: np.ndarray  # (B, OWN_POINTS, OTHER_POINTS) probability of winning, by own and opponent's further points

    @classmethod
    def of(cls, views: PlayerViews) -> Prospects:
        """See the class. If both players would peg out, ``win`` is one half."""
        n = len(views)
        found = cls(np.zeros((n, 13)), np.zeros(n), np.zeros((n, OWN_POINTS, OTHER_POINTS)))
        _fill_prospects(views.arrays, habits(), outlook().win_table, found)
        return found
