"""Results of a league: the results of every pair of players, and ratings.

Ratings are Bradley–Terry's (1952) on the Elo scale: a player rated d points higher wins a game with probability
1 / (1 + 10^(-d/400)). They are maximum-likelihood estimates (``choix``, Maystre and Grossglauser 2015). Their intervals
do not assume independent games: all pairings of a league play the same deals, each deal twice, so all results over one
deal together count as one observation (the sandwich estimator, White 1982, with deals as clusters).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import choix
import numpy as np

from crib_env.evaluate.matches.league import League, LeagueMatch
from crib_env.players.games import Z

MEAN = 1500.0  # of the ratings of a league
_POINTS = 400 / math.log(10)  # points of rating in a unit of log odds
_DRAWN = 0.5  # games added for each player of a pairing: else the rating of a player who wins all games is infinite


@dataclass(frozen=True)
class Ratings:
    """Ratings of A players and half of the lengths of their 95 % intervals, each (A,), in points."""

    points: np.ndarray
    half_widths: np.ndarray

    def chance(self, i: int, j: int) -> float:
        """Predicted probability that player i wins a game against player j."""
        return float(1 / (1 + 10 ** ((self.points[j] - self.points[i]) / 400)))


def rate(n_players: int, pairings: Sequence[tuple[int, int]], won: np.ndarray) -> Ratings:
    """Rates players by the games between pairs of them.

    Args:
        n_players: A, the number of players.
        pairings: P pairs of players, which link all of them.
        won: (P, N) how many of the two games over each of N deals the first of the pairing won: 0, 1 or 2, or any
            numbers of that mean, such as results less luck.
    """
    n_deals = won.shape[1]
    wins = won.sum(axis=1).clip(0, 2 * n_deals) + _DRAWN
    games = np.full(len(pairings), 2 * n_deals + 2 * _DRAWN)
    first, second = np.array(pairings).T
    counts = np.zeros((n_players, n_players))
    counts[first, second], counts[second, first] = wins, games - wins
    strengths = choix.ilsr_pairwise_dense(counts, max_iter=10_000)

    chances = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    sides = np.zeros((len(pairings), n_players))  # 1 for the first of each pairing, -1 for the second
    sides[np.arange(len(pairings)), first], sides[np.arange(len(pairings)), second] = 1.0, -1.0
    curvature = np.linalg.pinv((sides.T * (games * chances * (1 - chances))) @ sides)
    slopes = (won - 2 * chances[:, None]).T @ sides  # (N, A) what each deal adds to the slope of the likelihood
    drawn = (sides.T * (_DRAWN * (chances**2 + (1 - chances) ** 2))) @ sides
    spread = slopes.T @ slopes * (n_deals / max(n_deals - 1, 1)) + drawn
    covariance = curvature @ spread @ curvature
    return Ratings(MEAN + _POINTS * (strengths - strengths.mean()), Z * _POINTS * np.sqrt(np.diag(covariance)))


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
