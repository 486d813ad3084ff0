"""The win table: how a game ends from any pair of scores, before a deal, and what the play near the end adds to a hand.

:mod:`evaluate.win_table` makes it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from crib_env.engine import ROLES, WIN
from crib_env.exact.rank_classes import N_RANK_CLASSES
from crib_env.files.checked_file import Column, load_arrays, save_arrays, version_of

# How a game can end, seen from the dealer of the coming deal: the loser has 91 to 120, 61 to 90 (skunk), or 60 or less.
ENDINGS = ("dealer wins", "dealer skunks", "dealer double-skunks", "pone wins", "pone skunks", "pone double-skunks")
MATCH_POINTS = np.array([2, 3, 3, -2, -3, -3])  # ACC, to the dealer
LATE = 85
"""From this score of both players on, deals were played at each pair of scores."""
PARTS_OF_LATE_PLAY = 12
VERSION = 3
_KIND = "win table"
_COLUMNS = {
    "agent": Column("U"),
    "deals": Column("i"),
    "endings": Column("f", (WIN, WIN, len(ENDINGS))),
    "errors": Column("f", (WIN, WIN, 2)),
}
_PLAY_COLUMNS = {
    "late_hands": Column("f", (len(ROLES), N_RANK_CLASSES, PARTS_OF_LATE_PLAY)),
    "late_scores": Column("f", (len(ROLES), WIN - LATE, WIN - LATE, PARTS_OF_LATE_PLAY)),
    "plays": Column("f", (len(ROLES), N_RANK_CLASSES, 2), has_gaps=True),
}
_BEFORE_PLAYS = 2  # the version without these columns, which is still read


@dataclass(frozen=True)
class WinTable:
    """Expected results at every pair of scores below 121, before a deal.

    Attributes:
        agent: the name of the agent that played the sampled deals.
        deals: the number of sampled deals.
        endings: (121, 121, 6) float32, chances of ``ENDINGS`` by [dealer's score, pone's score].
        errors: (121, 121, 2) float32, standard errors of :attr:`win_probability` and of :attr:`match_points`.
        late_hands, late_scores: (2, 1820, 12) by role and ranks kept, and (2, 36, 36, 12) by role, own score and the
            opponent's from ``LATE`` on. Their product over the last axis is what the play to the score adds to a
            player's chance to win, as it follows from points that are played for at 0–0.
        plays: (2, 1820, 2) float32, mean points gained and given in the play from 0–0 between two of the agent, by role
            and ranks kept; NaN where the records of the play say it (:class:`crib_env.tables.pegging.PeggingRecords`).
    """

    agent: str
    deals: int
    endings: np.ndarray
    errors: np.ndarray
    late_hands: np.ndarray
    late_scores: np.ndarray
    plays: np.ndarray

    @property
    def win_probability(self) -> np.ndarray:
        """(121, 121) chance that the dealer wins."""
        return self.endings[..., :3].sum(axis=-1)

    @property
    def match_points(self) -> np.ndarray:
        """(121, 121) the dealer's expected ACC match points minus pone's."""
        return self.endings @ MATCH_POINTS

    @property
    def win_error(self) -> np.ndarray:
        """(121, 121) standard error of the chance that the dealer wins."""
        return self.errors[..., 0]

    def save(self, path: str | Path) -> None:
        """Writes the win table, whole or not at all."""
        save_arrays(path, _KIND, VERSION, {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> WinTable:
        """Reads a win table.

        Raises:
            ValueError: the file does not exist, is damaged, has another version or is not a win table.
        """
        if version_of(path) == str(_BEFORE_PLAYS):
            found = load_arrays(path, _KIND, _BEFORE_PLAYS, _COLUMNS)
            found |= {name: np.zeros(column.shape, np.float32) for name, column in _PLAY_COLUMNS.items()}
            found["plays"][:] = np.nan
        else:
            found = load_arrays(path, _KIND, VERSION, _COLUMNS | _PLAY_COLUMNS)
        return cls(str(found.pop("agent")), int(found.pop("deals")), **found)
