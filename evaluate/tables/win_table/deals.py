"""Deals that an agent plays against itself: the points of deals from 0–0 in order, and deals played at many scores.

Near the end of a game players play for other things than points, so a deal has to be played at each pair of scores.
The same cards are dealt at all of them: an agent that searches values them together
(:mod:`crib_env.agents.choosing`).
"""

from __future__ import annotations

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import WIN
from crib_env.kernels import kernel
from crib_env.players.agent import Agent
from crib_env.players.turns import play_out

MOST_PEGS = 32
"""Enough: each of eight cards scores at most three times, then there are heels and three hands."""
_ROWS = 20_000  # games side by side
_ALL_SCORES = np.stack(np.divmod(np.arange(WIN * WIN), WIN), axis=1)


def points_of(agent: Agent, seeds: np.ndarray) -> np.ndarray:
    """The points of deals from 0–0 in order, then zeros: (n, ``MOST_PEGS``, 2) int8, of dealer and of pone.

    Args:
        agent: both players.
        seeds: (n,) of the deals.
    """
    points = np.zeros((len(seeds), MOST_PEGS, 2), np.int8)
    batch = GameBatch(seeds, episode="deal")
    length = np.zeros(len(seeds), np.int64)
    while len(rows := batch.acting()):
        batch.step(rows, agent.act(batch.views(rows)))
        _append_events(batch.games, rows, points, length)
    return points


@kernel
def _append_events(games, rows, points, length):
    for i in rows:
        g = games[i]
        for k in range(g["n_events"]):
            if g["event_points"][k]:
                side = 0 if g["event_player"][k] == g["dealer"] else 1
                points[i, length[i], side] = g["event_points"][k]
                length[i] += 1


def deals_at(agent: Agent, seeds: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Deals played at C pairs of scores: the scores of dealer and pone after each, (n, C, 2) int8.

    Whoever has 121 has won, and the rest of the deal is not played.

    Args:
        agent: both players.
        seeds: (n,) of the deals.
        scores: (C, 2) of dealer and pone before the deal.
    """
    after = np.empty((len(seeds), len(scores), 2), np.int8)
    side_by_side = max(1, _ROWS // len(scores))
    for start in range(0, len(seeds), side_by_side):
        some = seeds[start : start + side_by_side]
        batch = GameBatch(np.repeat(some, len(scores)), episode="deal", first_dealer=0)
        batch.games["scores"] = batch.games["start_scores"] = np.tile(scores, (len(some), 1))
        play_out(batch, [agent])
        after[start : start + side_by_side] = batch.games["scores"].reshape(len(some), len(scores), 2)
    return after


def scores_from(low: int) -> np.ndarray:
    """Pairs of scores (C, 2), dealer's first, of which the lower one is at least ``low``."""
    return _ALL_SCORES[_ALL_SCORES.min(axis=1) >= low]


def scores_about(low: int) -> np.ndarray:
    """Pairs of scores (C, 2), dealer's first, of which just one is at least ``low``."""
    return _ALL_SCORES[(low <= _ALL_SCORES).sum(axis=1) == 1]
