"""Deals in which one player discards at random, mostly what is nearly best, played at every pair of late scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.batch import SOURCES
from crib_env.engine import WIN
from crib_env.evaluate.tables.win_table.explore import explore, roles_of
from crib_env.kernels import kernel
from crib_env.players.agent import Agent
from crib_env.scoring import show_points
from crib_env.tables.win_table import LATE

SIZE = WIN - LATE, WIN - LATE
"""Shape of what depends on own score and the opponent's."""
LATE_SCORES = np.stack(np.meshgrid(np.arange(LATE, WIN), np.arange(LATE, WIN), indexing="ij"), axis=-1).reshape(-1, 2)
"""(1296, 2) own score and the opponent's."""
_SIDE_BY_SIDE = 8  # deals
_IN_PLAY = [SOURCES.index("play"), SOURCES.index("heels")]


class LateDeals(NamedTuple):
    """n deals, from the side of the player who discarded at random: its own first, then the opponent's."""

    roles: np.ndarray
    """(n,) int64."""
    sixes: np.ndarray
    """(n, 6) int64 its cards, sorted."""
    places: np.ndarray
    """(n,) int64 which of the fifteen discards it drew."""
    pegged: np.ndarray
    """(n, 1296, 2) int8 points of the play and of his heels, at ``LATE_SCORES``."""
    after: np.ndarray
    """(n, 1296, 2) int8 scores after the deal."""
    shown: np.ndarray
    """(n, 1296, 2) int8 what the opponent's hand and the crib count, also where the game ends before they are shown."""


@kernel
def _count_shown(games, seats, out):
    for n in range(len(games)):
        g, opponent = games[n], 1 - seats[n]
        cut = np.int64(g["cards"][12])
        out[n, 0] = show_points(g["kept"][opponent], cut, False)
        out[n, 1] = show_points(g["discards"][0] | g["discards"][1], cut, True)


def explore_late(agent: Agent, seeds: np.ndarray) -> LateDeals:
    """Plays deals (n,) at all late scores."""
    n, width = len(seeds), len(LATE_SCORES)
    whole = (np.zeros(shape, np.int64) for shape in ((n, 6), (n,)))
    found = LateDeals(roles_of(seeds), *whole, *(np.zeros((n, width, 2), np.int8) for _ in range(3)))
    for start in range(0, n, _SIDE_BY_SIDE):
        rows = slice(start, start + _SIDE_BY_SIDE)
        explored = explore(agent, seeds[rows], LATE_SCORES)
        found.sixes[rows], found.places[rows] = explored.sixes, explored.places
        seats = np.repeat(explored.seats, width)
        sides, at = np.stack([seats, 1 - seats], axis=1), np.arange(len(seats))[:, None]
        pegged = explored.batch.tally[..., _IN_PLAY].sum(axis=(2, 3))
        found.pegged[rows] = pegged[at, sides].reshape(-1, width, 2)
        found.after[rows] = explored.batch.games["scores"][at, sides].reshape(-1, width, 2)
        _count_shown(explored.batch.games, seats, found.shown[rows].reshape(-1, 2))
    return found
