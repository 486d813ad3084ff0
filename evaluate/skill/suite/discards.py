"""Discards: 100,000 hands, each at 0–0 and at a random score, against the exact analysis.

At 0–0 a discard loses points: the best ``total`` of :func:`crib_env.analyse_discard` less its own. At random scores,
which are at most 60 apart, it loses chance to win: the best ``win_probability`` there less its own.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np

import crib_env.tables
from crib_env.agents import Agent
from crib_env.agents.expert import ExpertAgent
from crib_env.evaluate.skill.positions import batch_of, before_discards, chosen_cards
from crib_env.evaluate.skill.suite.task import Work, load_pinned
from crib_env.evaluate.statistics import Measured
from crib_env.exact.discard_statistics import PLACES
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.tables.outlook import discard_points

NAME, VERSION = "discards", 2
HASH = "15f9e174b4882577c89c31dd09c5422e"
N = 100_000
PATH = Path(__file__).parent / "data" / f"{NAME}-{VERSION}.npz"
_TABLES = Path(crib_env.tables.__file__).parent / "data"
_NAMES = ("cribs.npz", "pegging.npz", "win_table.npz")
SAME = 1e-9  # values are sums of a few exact fractions: what differs by less is rounding
_AT_ONCE = 4_096


@dataclass(frozen=True)
class Discards(SavedArrays, kind="discards of the suite", version=VERSION):
    """Six cards each, and what is best.

    Attributes:
        sixes: (100000, 6) int8 sorted cards.
        deals: (100000,) int8, 1 where their player deals.
        scores: (100000, 2) int8, its own and the opponent's, at most 60 apart.
        best: (100000,) int8, the discard with the best chance to win there, of the fifteen in
            :data:`crib_env.exact.discard_statistics.PLACES`.
        tables: hashes of the tables by which discards are valued (:func:`hashes_of_tables`).
    """

    sixes: Annotated[np.ndarray, Column("i", (N, 6))]
    deals: Annotated[np.ndarray, Column("i", (N,))]
    scores: Annotated[np.ndarray, Column("i", (N, 2))]
    best: Annotated[np.ndarray, Column("i", (N,))]
    tables: Annotated[np.ndarray, Column("U", (len(_NAMES),))]


def load(path: Path = PATH) -> Discards:
    """Reads the discards, and checks that they, and the tables that value them, are those of this version."""
    discards = load_pinned(Discards, path, HASH)
    if discards.tables.tolist() != hashes_of_tables():
        raise ValueError(
            f"the tables in {_TABLES} are not those that {NAME} {VERSION} are valued by: get them again, or measure "
            "with a release that has them"
        )
    return discards


standard = cache(load)


def hashes_of_tables() -> list[str]:
    """Hashes of the files of cribs, pegging and winning chances that ship with the package."""
    return [hashlib.sha256((_TABLES / name).read_bytes()).hexdigest() for name in _NAMES]


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    data, n = standard(), work.part_of(N)

    def chosen(scores: np.ndarray) -> np.ndarray:
        games = before_discards(data.sixes[:n].astype(np.int64), data.deals[:n] == 1, scores)
        return chosen_cards(agent, games, work.threads, work.on_progress_of(2 * n), n_cards=2)

    points_lost = points_lost_at_zero(data, np.arange(n), chosen(np.zeros((n, 2), np.int64)))
    chance_lost = chances_lost(data, _places(data, np.arange(n), chosen(data.scores[:n])), work.threads)
    return {
        "points lost a discard at 0–0": Measured.of(points_lost),
        "best discards at 0–0, %": Measured.percent(int((points_lost < SAME).sum()), n),
        "chance to win lost a discard, %": Measured.of(100 * chance_lost),
        "best discards at random scores, %": Measured.percent(int((chance_lost < SAME).sum()), n),
    }


def points_lost_at_zero(data: Discards, rows: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """The points, (N,), that cards (N, 2) discarded from the hands of some rows (N,) lose at 0–0."""
    points = discard_points(data.sixes[rows].astype(np.int64), data.deals[rows] == 1)
    return points.max(axis=1) - points[np.arange(len(rows)), _places(data, rows, cards)]


def _places(data: Discards, rows: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Which of the fifteen discards cards (N, 2) are."""
    return (data.sixes[rows][:, PLACES] == np.sort(cards, axis=1)[:, None]).all(axis=2).argmax(axis=1)


def chances_lost(data: Discards, chosen: np.ndarray, threads: int) -> np.ndarray:
    """The chance to win that discards of the first N hands, (N,) of the fifteen, lose at their scores, (N,)."""
    analyst, lost = ExpertAgent(threads=threads), []
    for start in range(0, len(chosen), _AT_ONCE):
        rows = slice(start, min(start + _AT_ONCE, len(chosen)))
        games = before_discards(data.sixes[rows].astype(np.int64), data.deals[rows] == 1, data.scores[rows])
        every = np.arange(len(games))
        values = analyst.discard_values(batch_of(games).views(every))
        lost.append(values.max(axis=1) - values[every, chosen[rows]])
    return np.concatenate(lost)
