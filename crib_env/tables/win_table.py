"""The win table: how a game ends from any pair of scores, before a deal, and how deals near the end differ from others.

:mod:`crib_env.evaluate.tables.win_table` makes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crib_env.engine import ROLES, WIN
from crib_env.exact.discard_statistics import N_POINTS
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.hands import N_FOURS
from crib_env.tables.deal_chances import ENDINGS, MATCH_POINTS

# The numbers below are constants of kernels.
LATE = 85
"""From this score of both players on, deals were played at each pair of scores."""
PARTS_OF_LATE_PLAY = 12
N_STYLES = 5
VERSION = 4
_KIND = "win table"
_COLUMNS = {
    "agent": Column("U"),
    "deals": Column("i"),
    "endings": Column("f", (WIN, WIN, len(ENDINGS))),
    "errors": Column("f", (WIN, WIN, 2)),
}
_PLAY_COLUMNS = {
    "style_hands": Column("f", (len(ROLES), N_STYLES, N_POINTS)),
    "style_cribs": Column("f", (len(ROLES), N_STYLES)),
    "styles": Column("f", (len(ROLES), WIN - LATE, WIN - LATE, N_STYLES)),
    "late_hands": Column("f", (len(ROLES), N_FOURS, PARTS_OF_LATE_PLAY)),
    "late_scores": Column("f", (len(ROLES), WIN - LATE, WIN - LATE, PARTS_OF_LATE_PLAY)),
    "plays": Column("f", (len(ROLES), N_FOURS, 2), has_gaps=True),
    "play_errors": Column("f", (len(ROLES), 2)),
}


@dataclass(frozen=True)
class WinTable(SavedArrays, kind=_KIND, version=VERSION, columns=_COLUMNS | _PLAY_COLUMNS):
    """Expected results at every pair of scores below 121, before a deal.

    Attributes:
        agent: the name of the agent that played the sampled deals.
        deals: the number of sampled deals.
        endings: (121, 121, 6) float32, chances of ``ENDINGS`` by [dealer's score, pone's score].
        errors: (121, 121, 2) float32, standard errors of :attr:`win_probability` and of :attr:`match_points`.
        style_hands, style_cribs: (2, 5, 30) and (2, 5) by role: styles in which the *opponent* of a player in this role
            discards. Each adds this to the chances of the points that it shows, and to the mean of the crib, as they
            are at 0–0.
        styles: (2, 36, 36, 5) weights of the styles by role, own score and the opponent's from ``LATE`` on; they add up
            to 1, and some are negative. Elsewhere it is the first style, that of 0–0.
        late_hands, late_scores: (2, 1820, 12) by role and ranks kept, and (2, 36, 36, 12) by role, own score and the
            opponent's from ``LATE`` on. Their product over the last axis is what the play to the score adds to a
            player's chance to win, as it follows from points that are played for at 0–0.
        plays: (2, 1820, 2) float32, mean points gained and given in the play from 0–0 between two of the agent, by role
            and ranks kept; NaN where the records of the play say it (:class:`crib_env.tables.pegging.PeggingRecords`).
        play_errors: (2, 2) float32, their standard errors by role, in the mean over hands.
    """

    agent: str
    deals: int
    endings: np.ndarray
    errors: np.ndarray
    style_hands: np.ndarray
    style_cribs: np.ndarray
    styles: np.ndarray
    late_hands: np.ndarray
    late_scores: np.ndarray
    plays: np.ndarray
    play_errors: np.ndarray

    @cached_property
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


def as_from_nothing() -> dict[str, np.ndarray]:
    """Fields of a :class:`WinTable` that says nothing but how games end: late deals are as those from 0–0."""
    found = {name: np.zeros(column.shape, np.float32) for name, column in _PLAY_COLUMNS.items()}
    found["plays"][:], found["styles"][..., 0] = np.nan, 1.0
    return found
