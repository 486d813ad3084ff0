"""The win table: how a game ends from any pair of scores, before a deal. :mod:`evaluate.win_table` makes it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from crib_env.engine import WIN
from crib_env.files.checked_file import Column, load_arrays, save_arrays

# How a game can end, seen from the dealer of the coming deal: the loser has 91 to 120, 61 to 90 (skunk), or 60 or less.
ENDINGS = ("dealer wins", "dealer skunks", "dealer double-skunks", "pone wins", "pone skunks", "pone double-skunks")
MATCH_POINTS = np.array([2, 3, 3, -2, -3, -3])  # ACC, to the dealer
VERSION = 2
_KIND = "win table"
_COLUMNS = {
    "agent": Column("U"),
    "deals": Column("i"),
    "endings": Column("f", (WIN, WIN, len(ENDINGS))),
    "errors": Column("f", (WIN, WIN, 2)),
}


@dataclass(frozen=True)
class WinTable:
    """Expected results at every pair of scores below 121, before a deal.

    Attributes:
        agent: the name of the agent that played the sampled deals.
        deals: the number of sampled deals.
        endings: (121, 121, 6) float32, chances of ``ENDINGS`` by [dealer's score, pone's score].
        errors: (121, 121, 2) float32, standard errors of :attr:`win_probability` and of :attr:`match_points`.
    """

    agent: str
    deals: int
    endings: np.ndarray
    errors: np.ndarray

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
        found = load_arrays(path, _KIND, VERSION, _COLUMNS)
        return cls(str(found["agent"]), int(found["deals"]), found["endings"], found["errors"])
