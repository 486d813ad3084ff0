"""A league: every pair of agents plays a match over the same deals, and is rated; a stopped league can be resumed.

The folder of a league holds ``config.json`` (agents, games, seed) and ``matches/``: a file for each finished match,
written whole, and the games of matches that are being played, card by card. Players are made anew for every match, so
each equals the match that ``match A B`` plays alone, and a resumed league gives the same results as an uninterrupted
one.

Ratings are Bradley–Terry's (1952) on the Elo scale: a player rated d points higher wins a game with probability
1 / (1 + 10^(-d/400)). They are maximum-likelihood estimates (``choix``, Maystre and Grossglauser 2015). Their intervals
do not assume independent games: all pairings of a league play the same deals, each deal twice, so all results over one
deal together count as one observation (the sandwich estimator, White 1982, with deals as clusters).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import choix
import numpy as np

from crib_env.agents import make_agent
from crib_env.evaluate.executors import Cluster
from crib_env.evaluate.files import write_json
from crib_env.evaluate.job import Job
from crib_env.evaluate.matches.game_records import add_records
from crib_env.evaluate.matches.match import MatchResult, pairs_less_luck, play_games, summarise
from crib_env.evaluate.matches.mirrored import Games, Pace, Shard, play_matches
from crib_env.evaluate.matches.resuming import take_up
from crib_env.evaluate.skill.luck.variates import WINS
from crib_env.files.json_text import read_json
from crib_env.files.whole_file import check_output
from crib_env.players.games import Z
from crib_env.values import Games as GameAmount
from crib_env.values import typed

MEAN = 1500.0  # of the ratings of a league
_POINTS = 400 / math.log(10)  # points of rating in a unit of log odds
_DRAWN = 0.5  # games added for each player of a pairing: else the rating of a player who wins all games is infinite


class LeagueMatch(NamedTuple):
    """A finished match, as its file holds it."""

    result: MatchResult
    won: str
    """Of each deal, how many of the two games ``a`` won: 0, 1 or 2."""
    less_luck: tuple[float, ...] | None = None
    """The same minus luck, if luck was measured."""

    @property
    def by_deal(self) -> np.ndarray:
        """(N,) ``won``, or ``less_luck`` if luck was measured."""
        return np.array(list(map(int, self.won)) if self.less_luck is None else self.less_luck)


@dataclass(frozen=True)
class League(Job):
    """The agents, the number of games per pair, the seed of the deals, and whether luck is subtracted from results;
    ``ValueError`` if one is not allowed."""

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
        """Plays the matches that are not in the folder yet; all matches, in the order of ``pairings``. ``ValueError``
        names a file of a match that is damaged or holds another match.

        The games of a match that is not finished are kept in the folder, block by block, and a later call goes on after
        them.

        Args:
            threads: the number of threads, which share the games of one match.
            on_progress: called with the number of further games done, those found in the folder too, and their match.
            cluster: a cluster to play all matches on side by side, in place of threads; the games are the same.
        """
        (folder / "matches").mkdir(exist_ok=True)
        paths = {(i, j): folder / "matches" / f"{i + 1}-{j + 1}.json" for i, j in self.pairings}
        matches = {two: self._read(two, path) for two, path in paths.items() if path.exists()}
        for two in matches:
            on_progress(self.games, self._words(two))
            paths[two].with_suffix(".jsonl").unlink(missing_ok=True)
        files = {two: path.with_suffix(".jsonl") for two, path in paths.items() if two not in matches}
        parts: dict[tuple[int, int], list[Games]] = {two: [] for two in files}
        before = time.perf_counter()
        for two, part in self._play_left(files, threads, on_progress, cluster):
            if part.records:
                add_records(files[two], part.records)
            parts[two].append(replace(part, records=()))
            if sum(part.pairs for part in parts[two]) == self.games // 2:
                now = time.perf_counter()
                matches[two] = self._write(two, Games.merged(parts.pop(two)), now - before, paths[two])
                files[two].unlink(missing_ok=True)
                before = now
        return [matches[two] for two in self.pairings]

    def _read(self, two: tuple[int, int], path: Path) -> LeagueMatch:
        again = "delete it to play it again"

        def build(content: dict[str, Any]) -> LeagueMatch:
            match = typed(content, LeagueMatch)
            games, wins = 2 * len(match.won), sum(map("012".index, match.won))
            if (games, wins, wins / games) != (match.result.games, match.result.wins, match.result.win_rate):
                raise ValueError("its games do not match its result")
            if len(match.by_deal) != len(match.won) or not np.isfinite(match.by_deal).all():
                raise ValueError("its games and its results less luck do not match")
            return match

        match = read_json(path, f"{path} is not a whole match: {again}", build)
        result, is_less = match.result, match.less_luck is not None
        holds = _in_words(result.a, result.b, result.games, result.seed, is_less)
        a, b = (self.agents[k] for k in two)
        asked = _in_words(a, b, self.games, self.seed, self.luck_adjusted)
        if holds != asked:
            raise ValueError(f"{path} holds {holds}, and this league asks for {asked}: {again}")
        return match

    def _words(self, two: tuple[int, int]) -> str:
        return " against ".join(self.agents[k] for k in two)

    def _play_left(
        self,
        files: Mapping[tuple[int, int], Path],
        threads: int,
        on_progress: Callable[[int, str], None],
        cluster: Cluster | None,
    ) -> Iterator[tuple[tuple[int, int], Games]]:
        """The games of some matches, in parts: first those that its file of games holds, then others as they end."""
        whole = Shard.of(self.seed, 0, self.games // 2, keep_records=True, measure_luck=self.luck_adjusted)
        left = []
        for two, file in files.items():
            a, b = (make_agent(self.agents[k]) for k in two)
            check_output(file)  # reading a FIFO would wait forever
            kept = take_up(file, a, b, whole)
            if kept is not None:
                on_progress(len(kept.scores), self._words(two))
                yield two, kept
            if cluster is not None:
                left.append((two, (a, b, list(Pace().blocks(whole.part(kept.pairs if kept else 0, len(whole.deals)))))))
                continue
            for part in play_games(
                a,
                b,
                self.games,
                self.seed,
                threads=threads,
                keep_records=True,
                measure_luck=self.luck_adjusted,
                kept=kept,
                on_progress=partial(lambda what, done: on_progress(done, what), self._words(two)),
            ):
                yield two, part
        if cluster is not None:
            for place, part in play_matches(cluster, [match for _, match in left]):
                on_progress(len(part.scores), self._words(left[place][0]))
                yield left[place][0], part

    def _write(self, two: tuple[int, int], games: Games, seconds: float, path: Path) -> LeagueMatch:
        a, b = (self.agents[k] for k in two)
        match = LeagueMatch(
            summarise(a, b, self.seed, games, seconds),
            "".join(map(str, games.won.reshape(-1, 2).sum(axis=1).tolist())),
            tuple((2 * pairs_less_luck(games)[:, WINS]).tolist()) if self.luck_adjusted else None,
        )
        write_json(path, match)
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

    @classmethod
    def of(cls, league: League, matches: list[LeagueMatch]) -> Standings:
        """Computes the standings from a league's matches, in the order of its pairings."""
        n = len(league.agents)
        cells: dict[tuple[int, int], Cell] = {}
        microseconds = np.zeros(n)
        for (i, j), match in zip(league.pairings, matches):
            result = match.result
            found = result if result.luck_adjusted is None else result.luck_adjusted
            low, high = found.interval
            cells[i, j] = Cell(found.win_rate, low, high, found.margin, found.net_match_points)
            cells[j, i] = Cell(1 - found.win_rate, 1 - high, 1 - low, -found.margin, -found.net_match_points)
            microseconds[i] += result.microseconds_per_decision["a"] / (n - 1)
            microseconds[j] += result.microseconds_per_decision["b"] / (n - 1)
        ratings = rate(n, league.pairings, np.stack([match.by_deal for match in matches]))
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
        """The mean over a player's opponents of a field of :class:`Cell`."""
        return float(np.mean([getattr(cell, name) for (i, _), cell in self.cells.items() if i == player]))
