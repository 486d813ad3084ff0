"""Where a player stands in the play: the public state behind the blueprint, the way from there, and what points are
worth at its score."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief.rest_of_deal import hand_show
from crib_env.agents.equilibrium.blueprint import N_CARDS
from crib_env.engine import DEALER, PONE, ROLES, WIN
from crib_env.hands import HAND_TABLES, N_FOURS, N_RANKS
from crib_env.kernels import bit, kernel, lowest, mask_of
from crib_env.solver.public_state import GOAL, GONE, N_FIELDS, POINTS, lay_rank, start_of_play
from crib_env.solver.subgame import Stakes, follow
from crib_env.tables.deal_chances import fill_before_crib

_START = start_of_play()


class Situation(NamedTuple):
    """What a player with a choice sees after the first ``N_CARDS`` cards of a deal."""

    root: np.ndarray
    """(``N_FIELDS``,) the public state after these cards; known cards are the starter and own discards too."""
    ranks: np.ndarray
    """(8,) int64 laid so far."""
    code: int
    """The way from the root to the decision (:func:`crib_env.solver.subgame.follow`)."""
    role: int
    hand: int
    """The number of the hand that the player held at the root."""
    scores: tuple[int, int]
    """Of pone and of the dealer, before the play."""
    kept: int
    """Mask of the four cards that the player kept."""
    discards: int
    """Mask."""
    laid: int
    """Mask of what the opponent has laid of the first ``N_CARDS`` cards."""


@kernel
def _situate(views, b, start, root, ranks, hands):
    roles, now, points = np.empty(8, np.int64), np.empty(N_FIELDS, np.int64), np.empty(2, np.int64)
    role = DEALER if views.is_dealer[b] else PONE
    kept, discards, laid = mask_of(views.hand[b]), mask_of(views.discards[b]), np.int64(0)
    lowest_held = np.int64(N_RANKS)
    for k in range(4):
        if views.hand[b, k] >= 0:
            lowest_held = min(lowest_held, np.int64(views.hand[b, k]) % 13)
    n = np.int64(views.n_laid[b])
    for k in range(n):
        card = np.int64(views.laid[b, k])
        ranks[k], roles[k] = card % 13, role if views.laid_by[b, k] == 0 else 1 - role
        if roles[k] == role:
            kept |= bit(card)
        elif k < N_CARDS:
            laid |= bit(card)
    root[:] = start
    if views.starter[b] >= 0:
        root[GONE] += np.int64(1) << (3 * (np.int64(views.starter[b]) % 13))
    for k in range(N_CARDS):
        lay_rank(root, ranks[k])
    now[:] = root
    code = follow(now, ranks, roles, np.int64(N_CARDS), n, role, lowest_held)
    points[role], points[1 - role] = (
        views.scores[b, 0] - now[POINTS + role],
        views.scores[b, 1] - now[POINTS + 1 - role],
    )
    rest, size, hand = kept, 0, np.int64(0)
    for k in range(N_CARDS):
        if roles[k] == role:  # this card was laid before
            for suit in range(4):
                if (rest >> (13 * suit + ranks[k])) & 1:
                    rest ^= bit(13 * suit + ranks[k])
                    break
    while rest:
        hand = hands.with_rank[size, lowest(rest) % 13, hand]
        size += 1
        rest &= rest - 1
    rest = discards
    while rest:
        root[GONE] += np.int64(1) << (3 * (lowest(rest) % 13))
        rest &= rest - 1
    if views.starter[b] >= 0:
        root[GOAL], root[GOAL + 1] = WIN - points[PONE], WIN - points[DEALER]
    return code, role, hand, points[PONE], points[DEALER], kept, discards, laid


def situation(views: PlayerViews, row: int) -> Situation:
    """Of one decision with a choice, after at least ``N_CARDS`` cards."""
    root, ranks = np.empty(N_FIELDS, np.int64), np.full(8, -1, np.int64)
    code, role, hand, pone, dealer, *masks = _situate(views.arrays, row, _START, root, ranks, HAND_TABLES)
    return Situation(root, ranks, code, role, hand, (pone, dealer), *masks)


_MOST = 64  # points that a player makes in a play and the show of its hand: more are very rare, and count as this many


@cache
def rank_shows() -> np.ndarray:
    """(13, 1820) points of the ranks of each hand (:data:`crib_env.hands.HANDS`) with each starter, without
    flush and nobs."""
    return np.array([[hand_show(hand, starter) for hand in range(N_FOURS)] for starter in range(N_RANKS)])


def chances_to_win(scores: tuple[int, int], shows: np.ndarray, crib: np.ndarray, win_table: np.ndarray) -> Stakes:
    """The chance that pone wins the game.

    Args:
        scores: of pone and of the dealer, before the play.
        shows: (2, 1820) points that each hand of pone and of the dealer shows.
        crib: (30,) chances of the crib's points.
        win_table: (121, 121) the dealer's chance to win, before a deal.
    """
    worth = np.empty((_MOST, _MOST))
    fill_before_crib(*scores, crib, False, win_table, worth)
    return Stakes(worth, shows)


@cache
def net_points() -> Stakes:
    """Points of the play alone, pone's less the dealer's."""
    points = np.arange(float(_MOST))
    return Stakes(points[:, None] - points, np.zeros((len(ROLES), N_FOURS), np.int64))
