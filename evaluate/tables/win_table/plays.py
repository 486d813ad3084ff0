"""Points of the play between two of an agent at 0–0, by the ranks kept.

The shipped records of the play are those of a simple player, from millions of deals. Here the points of an agent are
compared with them, and the differences smoothed over hands that play alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.batch import SOURCES
from crib_env.engine import ROLES
from crib_env.evaluate.tables.win_table.alike import smoothed
from crib_env.evaluate.tables.win_table.explore import explore, roles_of
from crib_env.hands import N_FOURS, hand_of_mask
from crib_env.kernels import kernel
from crib_env.players.agent import Agent
from crib_env.tables.standard import standard_pegging

_SIDE_BY_SIDE = 2_000  # deals


class Plays(NamedTuple):
    """n plays, from the side of the player who discarded at random."""

    roles: np.ndarray
    """(n,) int64."""
    hands: np.ndarray
    """(n,) int64 number of the four kept."""
    points: np.ndarray
    """(n, 2) int64 gained and given."""


@kernel
def _fill_numbers(kept, out):
    for n in range(len(kept)):
        out[n] = hand_of_mask(kept[n])


def explore_plays(agent: Agent, seeds: np.ndarray) -> Plays:
    """Plays deals (n,) from 0–0."""
    n = len(seeds)
    found = Plays(roles_of(seeds), np.zeros(n, np.int64), np.zeros((n, 2), np.int64))
    for start in range(0, n, _SIDE_BY_SIDE):
        rows = slice(start, start + _SIDE_BY_SIDE)
        explored = explore(agent, seeds[rows], np.zeros((1, 2), np.int64))
        games, seats, at = explored.batch.games, explored.seats, np.arange(len(explored.seats))
        _fill_numbers(games["kept"][at, seats], found.hands[rows])
        made = explored.batch.tally[..., SOURCES.index("play")].sum(axis=2)
        found.points[rows] = np.stack([made[at, seats], made[at, 1 - seats]], axis=1)
    return found


class MeanPlays(NamedTuple):
    """See :class:`crib_env.tables.win_table.WinTable`."""

    plays: np.ndarray
    play_errors: np.ndarray


def fit_plays(plays: Plays) -> MeanPlays:
    """Mean points by role and ranks kept, and their standard errors over hands as they are kept.

    For the errors, means from half of the plays predict the points of the other half. What is left, beyond how much
    the points of the same ranks vary, is the error of these means; that of all plays together is lower.
    """
    means, errors = np.zeros_like(standard_pegging().mean), np.zeros((len(ROLES), 2))
    for role in range(len(ROLES)):
        rows = np.flatnonzero(plays.roles == role)
        means[role] = _smoothed(plays, rows, role)
        halves = rows[::2], rows[1::2]
        squares = [_error(plays, other, _smoothed(plays, half, role)) for half, other in (halves, halves[::-1])]
        errors[role] = np.sqrt(np.maximum(np.mean(squares, axis=0), 0.0))
    return MeanPlays(means.astype(np.float32), errors.astype(np.float32))


def _error(plays: Plays, rows: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(2,) mean square of the error of means (1820, 2), by other plays."""
    hands, points = plays.hands[rows], plays.points[rows].astype(float)
    n = np.bincount(hands, minlength=N_FOURS)
    sums = np.stack([np.bincount(hands, side, N_FOURS) for side in points.T], axis=1)
    within = ((points - (sums / np.maximum(n, 1)[:, None])[hands]) ** 2).sum(axis=0) / max(len(rows) - (n > 0).sum(), 1)
    found: np.ndarray = ((points - means[hands]) ** 2).mean(axis=0) - within
    return found


def _smoothed(plays: Plays, rows: np.ndarray, role: int) -> np.ndarray:
    """(1820, 2) mean points, of the plays ``rows``."""
    known = standard_pegging().mean[role]
    hands, more = plays.hands[rows], plays.points[rows] - known[plays.hands[rows]]
    n, mean = np.bincount(hands, minlength=N_FOURS), more.mean(axis=0)
    sums = np.stack([np.bincount(hands, side, N_FOURS) for side in (more - mean).T], axis=1)
    return np.maximum(known + mean + smoothed(sums / np.maximum(n, 1)[:, None], n, role), 0.0)
