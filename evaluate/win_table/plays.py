"""Points of the play between two of an agent at 0–0, by the ranks kept.

The shipped records of the play are those of a simple player, from millions of deals. Here the points of an agent are
compared with them, and the differences smoothed over hands that play alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.batch import SOURCES
from crib_env.engine import ROLES
from crib_env.exact.rank_classes import N_RANK_CLASSES, rank_class
from crib_env.kernels import kernel
from crib_env.tables.standard import standard_pegging
from evaluate.win_table.alike import smoothed
from evaluate.win_table.deals import Player
from evaluate.win_table.explore import explore, roles_of

_SIDE_BY_SIDE = 2_000  # deals


class Plays(NamedTuple):
    """n plays, from the side of the player who discarded at random."""

    roles: np.ndarray
    """(n,) int64."""
    classes: np.ndarray
    """(n,) int64 rank class of the four kept."""
    points: np.ndarray
    """(n, 2) int64 gained and given."""


@kernel
def _classes_of(kept, out):
    for n in range(len(kept)):
        out[n] = rank_class(kept[n])


def explore_plays(agent: Player, seeds: np.ndarray) -> Plays:
    """Plays deals (n,) from 0–0."""
    n = len(seeds)
    found = Plays(roles_of(seeds), np.zeros(n, np.int64), np.zeros((n, 2), np.int64))
    for start in range(0, n, _SIDE_BY_SIDE):
        rows = slice(start, start + _SIDE_BY_SIDE)
        explored = explore(agent, seeds[rows], np.zeros((1, 2), np.int64))
        games, seats, at = explored.batch.games, explored.seats, np.arange(len(explored.seats))
        _classes_of(games["kept"][at, seats], found.classes[rows])
        made = explored.batch.tally[..., SOURCES.index("play")].sum(axis=2)
        found.points[rows] = np.stack([made[at, seats], made[at, 1 - seats]], axis=1)
    return found


def fit_plays(plays: Plays) -> np.ndarray:
    """``plays`` of :class:`crib_env.tables.win_table.WinTable`, (2, 1820, 2) float32."""
    known = standard_pegging().mean
    out = np.zeros_like(known)
    for role in range(len(ROLES)):
        rows = np.flatnonzero(plays.roles == role)
        classes, more = plays.classes[rows], plays.points[rows] - known[role, plays.classes[rows]]
        n, mean = np.bincount(classes, minlength=N_RANK_CLASSES), more.mean(axis=0)
        sums = np.stack([np.bincount(classes, side, N_RANK_CLASSES) for side in (more - mean).T], axis=1)
        out[role] = known[role] + mean + smoothed(sums / np.maximum(n, 1)[:, None], n, role)
    return np.maximum(out, 0.0).astype(np.float32)
