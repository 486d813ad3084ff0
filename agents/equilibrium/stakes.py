"""What points are worth at a score: the chance to win after the play, by the shows, the crib and the win table."""

from __future__ import annotations

from functools import cache

import numpy as np

from crib_env.agents.belief.rest_of_deal import class_show
from crib_env.engine import ROLES
from crib_env.hands import CLASS_RANKS, HAND_OF_CLASS, N_RANKS
from crib_env.solver.subgame import Stakes
from crib_env.tables.deal_chances import fill_before_crib

_MOST = 64  # points that a player makes in a play and the show of its hand: more are very rare, and count as this many


@cache
def rank_shows() -> np.ndarray:
    """(13, 1820) points of the ranks of each hand (:data:`crib_env.hands.HANDS`) with each starter, without
    flush and nobs."""
    shows = np.empty((N_RANKS, len(CLASS_RANKS)), np.int64)
    for starter in range(N_RANKS):
        shows[starter, HAND_OF_CLASS] = [class_show(number, starter) for number in range(len(CLASS_RANKS))]
    return shows


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
    return Stakes(points[:, None] - points, np.zeros((len(ROLES), len(CLASS_RANKS)), np.int64))
