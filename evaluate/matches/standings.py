"""Results of a league: ratings, and the results of every pair of players."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crib_env.evaluate.matches.league import League, LeagueMatch
from crib_env.evaluate.matches.ratings import Ratings, rate


class Cell(NamedTuple):
    """A player's results against another, from its side: shares of games with 95 % intervals, and points a game.

    Luck is subtracted from all of them if the league says so.
    """

    win_rate: float
    low: float
    high: float
    margin: float
    net_match_points: float


@dataclass(frozen=True)
class Standings:
    """Results of a league of A agents."""

    league: League
    ratings: Ratings
    cells: dict[tuple[int, int], Cell]
    """For every pair of agents, in both orders."""
    microseconds: np.ndarray
    """(A,) microseconds of a decision, the mean over matches."""
    faults: list[Counter[str]]
    """Of each agent, decisions taken for a program that failed, by the kind of fault."""

    @classmethod
    def of(cls, league: League, matches: list[LeagueMatch]) -> Standings:
        """Computes the standings from a league's matches, in the order of its pairings."""
        n = len(league.agents)
        cells: dict[tuple[int, int], Cell] = {}
        microseconds = np.zeros(n)
        faults = [Counter[str]() for _ in range(n)]
        for (i, j), match in zip(league.pairings, matches):
            result = match.result
            found = result if result.luck_adjusted is None else result.luck_adjusted
            low, high = found.interval
            cells[i, j] = Cell(found.win_rate, low, high, found.margin, found.net_match_points)
            cells[j, i] = Cell(1 - found.win_rate, 1 - high, 1 - low, -found.margin, -found.net_match_points)
            faults[i].update(result.faults["a"])
            faults[j].update(result.faults["b"])
            microseconds[i] += result.microseconds_per_decision["a"] / (n - 1)
            microseconds[j] += result.microseconds_per_decision["b"] / (n - 1)
        ratings = rate(
            n,
            league.pairings,
            np.stack([match.won if match.less_luck is None else match.less_luck for match in matches]),
        )
        return cls(league, ratings, cells, microseconds, faults)

    @property
    def order(self) -> list[int]:
        """The agents, the best first."""
        return np.argsort(-self.ratings.points, kind="stable").tolist()

    @property
    def misfit(self) -> float:
        """The largest difference between a win rate and the ratings' prediction."""
        return max(abs(cell.win_rate - self.ratings.chance(i, j)) for (i, j), cell in self.cells.items())

    def mean(self, player: int, name: str) -> float:
        """The mean over a player's opponents of a field of :class:`Cell`."""
        return float(np.mean([getattr(cell, name) for (i, _), cell in self.cells.items() if i == player]))
