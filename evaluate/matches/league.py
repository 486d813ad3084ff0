"""A league: every pair of agents plays a match over the same deals, and is rated; a stopped league can be resumed.

The folder of a league holds ``config.json`` and ``matches/``: a file for each finished match, and the games of the
match that is being played, card by card. Players are made anew for every match, so each equals the match that ``match A
B`` plays alone.

Ratings are Bradley–Terry's (1952) on the Elo scale: a player rated d points higher wins a game with probability
1 / (1 + 10^(-d/400)). They are maximum-likelihood estimates (``choix``, Maystre and Grossglauser 2015). Their intervals
do not assume independent games: all pairings of a league play the same deals, each deal twice, so all results over one
deal together count as one observation (the sandwich estimator, White 1982, with deals as clusters).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import choix
import numpy as np

from crib_env.agents import make_agent
from crib_env.evaluate.executors import Cluster
from crib_env.evaluate.files import Job, write_json
from crib_env.evaluate.matches.match import MatchResult, Results, pairs_less_luck, play_games, summarise
from crib_env.evaluate.matches.mirrored import Games
from crib_env.evaluate.skill.luck.variates import WINS
from crib_env.files.json_text import read_json
from crib_env.players.games import Z
from crib_env.values import Games as GameAmount
from crib_env.values import typed

MEAN = 1500.0  # of the ratings of a league
_POINTS = 400 / math.log(10)  # points of rating in a unit of log odds
_DRAWN = 0.5  # games added for each player of a pairing: else the rating of a player who wins all games is infinite


class LeagueMatch(NamedTuple):
    """A finished match, as its file holds it."""

    result: MatchResult
    by_deal: tuple[float, ...]
    """Of each deal, how many of the two games ``a`` won: 0, 1 or 2; or the same less luck, if luck was measured."""


@dataclass(frozen=True)
class League(Job):
    """The settings of a league; ``ValueError`` if one is not allowed."""

    KIND = "league"
    FOLDERS = Path("runs") / "league"

    agents: tuple[str, ...]
    games: int
    seed: int
    luck_adjusted: bool = False

    def __post_init__(self) -> None:
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents={' '.join(self.agents)!r} is not allowed: give two or more different agents")
        typed(self.games, GameAmount, "games")
        for agent in self.agents:
            make_agent(agent)

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """Every pair of agents, by their places in ``agents``, in the order of play."""
        return list(combinations(range(len(self.agents)), 2))

    def play(
        self,
        folder: Path,
        threads: int = 1,
        on_progress: Callable[[int, str], None] = lambda done, what: None,
        cluster: Cluster | None = None,
    ) -> list[LeagueMatch]:
        """Plays what is not in the folder yet, and keeps it there block by block; all matches, in the order of
        ``pairings``.

        Tells ``on_progress`` of further games done, those found in the folder too, and their match. ``ValueError``
        names a file of a match that is damaged or holds another match.
        """
        (folder / "matches").mkdir(exist_ok=True)
        matches = []
        for i, j in self.pairings:
            a, b = self.agents[i], self.agents[j]
            path = folder / "matches" / f"{i + 1}-{j + 1}.json"
            tell = partial(lambda what, done: on_progress(done, what), f"{a} against {b}")
            record = path.with_suffix(".jsonl")
            if path.exists():
                matches.append(self._read(path, a, b))
                tell(self.games)
            else:
                how: dict[str, Any] = {
                    "threads": threads,
                    "cluster": cluster,
                    "record": record,
                    "measure_luck": self.luck_adjusted,
                }
                began = time.perf_counter()
                parts = play_games(make_agent(a), make_agent(b), self.games, self.seed, on_progress=tell, **how)
                games = Games.merged(list(parts))
                by_deal = games.won.reshape(-1, 2).sum(axis=1)
                if self.luck_adjusted:
                    by_deal = 2 * pairs_less_luck(games)[:, WINS]
                result = summarise(a, b, self.seed, games, time.perf_counter() - began)
                matches.append(LeagueMatch(result, tuple(by_deal.tolist())))
                write_json(path, matches[-1])
            record.unlink(missing_ok=True)
        return matches

    def _read(self, path: Path, a: str, b: str) -> LeagueMatch:
        def build(content: dict[str, Any]) -> LeagueMatch:
            match = typed(content, LeagueMatch)
            if 2 * len(match.by_deal) != match.result.games or not np.isfinite(match.by_deal).all():
                raise ValueError("its games do not match its result")
            return match

        match = read_json(path, f"{path} is not a whole match: delete it to play it again", build)
        result, is_less = match.result, match.result.luck_adjusted is not None
        holds = _in_words(result.a, result.b, result.games, result.seed, is_less)
        asked = _in_words(a, b, self.games, self.seed, self.luck_adjusted)
        if holds != asked:
            raise ValueError(f"{path} holds {holds}, and this league asks for {asked}: delete it to play it again")
        return match


def _in_words(a: str, b: str, games: int, seed: int, is_less_luck: bool) -> str:
    return f"{a} against {b}, {games} games, seed {seed}{', less luck' if is_less_luck else ''}"


@dataclass(frozen=True)
class Ratings:
    """Ratings of A players and half of the lengths of their 95 % intervals, each (A,), in points."""

    points: np.ndarray
    half_widths: np.ndarray

    def chance(self, i: int, j: int) -> float:
        """Predicted probability that player i wins a game against player j."""
        return float(1 / (1 + 10 ** ((self.points[j] - self.points[i]) / 400)))


def rate(n_players: int, pairings: Sequence[tuple[int, int]], won: np.ndarray) -> Ratings:
    """Rates A players by the games between pairs of them, which link all.

    Args:
        pairings: P pairs of players.
        won: (P, N) how many of the two games over each of N deals the first of the pairing won: 0, 1 or 2, or the same
            less luck.
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


@dataclass(frozen=True)
class Standings:
    """Results of a league of A agents."""

    league: League
    ratings: Ratings
    cells: dict[tuple[int, int], Results]
    """For every pair of agents, in both orders, from the side of the first; less luck if the league says so."""
    microseconds: np.ndarray
    """(A,) microseconds of a decision, the mean over matches."""

    @classmethod
    def of(cls, league: League, matches: list[LeagueMatch]) -> Standings:
        """Computes the standings from a league's matches, in the order of its pairings."""
        n = len(league.agents)
        cells: dict[tuple[int, int], Results] = {}
        microseconds = np.zeros(n)
        for (i, j), match in zip(league.pairings, matches):
            result = match.result
            cells[i, j] = result.luck_adjusted or result
            cells[j, i] = cells[i, j].from_b()
            microseconds[i] += result.microseconds_per_decision["a"] / (n - 1)
            microseconds[j] += result.microseconds_per_decision["b"] / (n - 1)
        ratings = rate(n, league.pairings, np.array([match.by_deal for match in matches]))
        return cls(league, ratings, cells, microseconds)

    @property
    def order(self) -> list[int]:
        """The agents, the best first."""
        return np.argsort(-self.ratings.points, kind="stable").tolist()

    @property
    def misfit(self) -> float:
        """The largest difference between a win rate and the ratings' prediction."""
        return max(abs(cell.win_rate - self.ratings.chance(i, j)) for (i, j), cell in self.cells.items())

    def mean(self, player: int, name: str) -> float:
        """The mean over a player's opponents of a field of :class:`Results`."""
        return float(np.mean([getattr(cell, name) for (i, _), cell in self.cells.items() if i == player]))
