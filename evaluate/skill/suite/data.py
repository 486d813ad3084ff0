"""The positions of the suite and their truth, in one file whose hash is pinned here."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

import crib_env.tables
from crib_env.files.checked_file import Column, checksum_of, load_arrays, save_arrays

VERSION = 2
"""The version of the suite. A version never changes; a suite with other tasks, positions or figures is the next one."""
HASH = "cae6b88f5e69ca73c1d56e24ad161eb1"
"""Hash of all arrays in the file of this version."""
SEED = 19
"""Random seed of this version's positions."""
DISCARDS, CARDS_LAID, ENDGAMES = 100_000, 10_000, 20
_KIND = "data of the suite"
_DATA = Path(__file__).parent / "data" / f"suite-{VERSION}.npz"
_TABLES = Path(crib_env.tables.__file__).parent / "data"
_COLUMNS = {
    "sixes": Column("i", (DISCARDS, 6)),
    "deals": Column("i", (DISCARDS,)),
    "scores": Column("i", (DISCARDS, 2)),
    "best": Column("i", (DISCARDS,)),
    "play_deals": Column("i", (CARDS_LAID, 8)),
    "play_dealers": Column("i", (CARDS_LAID,)),
    "play_cards": Column("i", (CARDS_LAID, 7)),
    "play_losses": Column("f", (CARDS_LAID, 13), has_gaps=True),
    "nash_conv": Column("f"),
    "end_deals": Column("i", (ENDGAMES, 13)),
    "end_dealers": Column("i", (ENDGAMES,)),
    "end_scores": Column("i", (ENDGAMES, 2)),
    "end_cards": Column("i", (ENDGAMES, 11)),
    "end_best": Column("i", (ENDGAMES, 13)),
    "tables": Column("U", (3,)),
}


@dataclass(frozen=True)
class SuiteData:
    """All positions of a version, with what is best in them.

    Attributes:
        sixes: (100000, 6) int8 sorted cards before a discard.
        deals: (100000,) int8, 1 where their player deals.
        scores: (100000, 2) int8, its own and the opponent's, at most 60 apart.
        best: (100000,) int8, the discard with the best chance to win there, of the fifteen in
            :data:`crib_env.exact.discard_statistics.PLACES`.
        play_deals, play_dealers, play_cards: pegging games before a choice, as
            :func:`crib_env.evaluate.skill.suite.positions.after_cards` takes them.
        play_losses: (10000, 13) float32 points that each rank loses there, NaN where it cannot be laid.
        nash_conv: of the equilibrium behind these, points a deal.
        end_deals, end_dealers, end_scores, end_cards: twenty endgames.
        end_best: (20, 13) int8, 1 for each rank that wins for certain.
        tables: hashes of the tables by which discards are valued (:func:`hashes_of_tables`).
    """

    sixes: np.ndarray
    deals: np.ndarray
    scores: np.ndarray
    best: np.ndarray
    play_deals: np.ndarray
    play_dealers: np.ndarray
    play_cards: np.ndarray
    play_losses: np.ndarray
    nash_conv: np.ndarray
    end_deals: np.ndarray
    end_dealers: np.ndarray
    end_scores: np.ndarray
    end_cards: np.ndarray
    end_best: np.ndarray
    tables: np.ndarray

    @property
    def hash(self) -> str:
        """Hash of all arrays."""
        return checksum_of(self._arrays())

    def save(self, path: Path) -> None:
        """Writes the data, whole or not at all."""
        save_arrays(path, _KIND, VERSION, self._arrays())

    def _arrays(self) -> dict[str, np.ndarray]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def load(cls, path: Path = _DATA) -> SuiteData:
        """Reads the data, and checks that they are those of this version.

        Raises:
            ValueError: there is no such file, it is damaged or another, or the tables that value discards are not those
                it was made with.
        """
        data = cls(**load_arrays(path, _KIND, VERSION, _COLUMNS))
        if data.hash != HASH:
            raise ValueError(f"{path} has the hash {data.hash}, and suite {VERSION} has {HASH}: get the file again")
        if data.tables.tolist() != hashes_of_tables():
            raise ValueError(
                f"the tables in {_TABLES} are not those that suite {VERSION} values discards by: get them again, or "
                "measure with a release that has them"
            )
        return data


def hashes_of_tables() -> list[str]:
    """Hashes of the files of cribs, pegging and winning chances that ship with the package."""
    return [hashlib.sha256((_TABLES / name).read_bytes()).hexdigest() for name in _NAMES]


_NAMES = ("cribs.npz", "pegging.npz", "win_table.npz")


@cache
def standard_data() -> SuiteData:
    """The data of this version of the suite."""
    return SuiteData.load()
