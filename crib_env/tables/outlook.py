"""What the shipped tables add to the exact values of a discard: the opponent, the play and the rest of a game."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env.engine import DEALER, PONE
from crib_env.tables.standard import standard_cribs, standard_pegging, standard_win_table
from crib_env.tables.win_table import WinTable


class Outlook(NamedTuple):
    """The parts of the shipped tables that the kernels below need, as arrays; the first axis is by role."""

    cribs: np.ndarray
    """(2, 13, 13) the change in the crib's mean when the opponent discards with purpose, by ranks discarded."""
    hands: np.ndarray
    """(2, 5, 30) chances of the points that the *opponent* of this player shows, by its style of discarding."""
    style_cribs: np.ndarray
    """(2, 5) what each style adds to the crib's mean."""
    styles: np.ndarray
    """(2, 36, 36, 5) weights of the styles, of :class:`crib_env.tables.win_table.WinTable`."""
    pegging: np.ndarray
    """(2, 1820, 2, 61) chances of points gained and given in the play."""
    win_table: np.ndarray
    """(121, 121) the dealer's chance to win, by dealer's and pone's score."""
    late_hands: np.ndarray
    """(2, 1820, 12) of :class:`crib_env.tables.win_table.WinTable`."""
    late_scores: np.ndarray
    """(2, 36, 36, 12), too."""


def _with_means(chances: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Chances of points (..., 61), multiplied by a power of the points so that they have these means (...); unchanged
    where the mean is NaN."""
    given = np.isfinite(means)
    out, rows, points = chances.copy(), chances[given], np.arange(chances.shape[-1])
    power = np.zeros((len(rows), 1))  # its logarithm, by Newton's method
    for _ in range(50):
        tilted = rows * np.exp(power * points)
        tilted /= tilted.sum(axis=-1, keepdims=True)
        mean = tilted @ points
        spread = tilted @ points**2 - mean**2
        power += np.clip((means[given] - mean) / np.maximum(spread, 1e-9), -0.3, 0.3)[:, None]
        out[given] = tilted
    return out


@cache
def outlook(win_table: Path | None = None) -> Outlook:
    """The outlook of the standard tables, or with the win table of another file."""
    return outlook_of(standard_win_table() if win_table is None else WinTable.load(win_table))


def outlook_of(wins: WinTable) -> Outlook:
    """The outlook of the standard tables and a win table."""
    tables = standard_cribs()
    return Outlook(
        cribs=tables.mean - tables.against_random,
        hands=tables.hand_points[[DEALER, PONE], None] + wins.style_hands,  # of the other role
        style_cribs=wins.style_cribs.astype(np.float64),
        styles=wins.styles.astype(np.float64),
        pegging=_with_means(standard_pegging().distribution, wins.plays),
        win_table=wins.win_probability.astype(np.float64),
        late_hands=wins.late_hands.astype(np.float64),
        late_scores=wins.late_scores.astype(np.float64),
    )
