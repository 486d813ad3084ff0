"""Matches: mirrored games between two agents, with results and their intervals."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from crib_env.agents import Agent
from crib_env.batch import SOURCES
from crib_env.engine import DOUBLE_SKUNK, ROLES, SKUNK
from crib_env.kernels import streams
from evaluate.luck.fitted import less_luck
from evaluate.luck.table import MATCH_POINTS, NET_POINTS, RESULTS, WINS
from evaluate.luck.variates import results
from evaluate.matches.mirrored import Games, mean_of_pairs, play_shards, shards
from evaluate.on_ray import Cluster
from evaluate.ranges import MOST_GAMES
from evaluate.statistics import looks, match_points, mean_interval, paired_rate_interval, rate_less_luck, reach


@dataclass(frozen=True)
class LuckAdjusted:
    """The results of a match minus luck, from the side of ``a`` (:mod:`evaluate.luck.fitted`); intervals are at 95 %.

    ``variance_ratio`` is, for each of ``RESULTS``, the variance of a mirrored pair divided by its variance without
    luck: this many times more games would give the same interval with luck. ``single_variance_ratio`` is the same for
    single games.
    """

    win_rate: float
    interval: tuple[float, float]
    margin: float
    margin_interval: tuple[float, float]
    net_match_points: float
    net_match_points_interval: tuple[float, float]
    variance_ratio: dict[str, float]
    single_variance_ratio: dict[str, float]


@dataclass(frozen=True)
class MatchResult:
    """The result of a match, from the side of ``a``; intervals are at 95 %.

    ``margin`` is in points a game, ``net_match_points`` in ACC match points a game (2 for a win, 3 with a skunk).
    ``points_per_deal[player][role][source]`` are means over the deals begun in that role, including the last deal
    of each game, which is usually cut short. ``microseconds_per_decision`` leaves out the first deal of each
    game, in which kernels are still compiled.
    """

    a: str
    b: str
    games: int
    seed: int
    wins: int
    win_rate: float
    interval: tuple[float, float]
    margin: float
    margin_interval: tuple[float, float]
    match_points: dict[str, int]
    net_match_points: float
    net_match_points_interval: tuple[float, float]
    skunks: dict[str, int]
    double_skunks: dict[str, int]
    deals_per_game: float
    points_per_deal: dict[str, dict[str, dict[str, float]]]
    microseconds_per_decision: dict[str, float]
    seconds: float
    luck_adjusted: LuckAdjusted | None = None

    def to_json(self) -> dict[str, Any]:
        """The result as a dictionary of plain values."""
        return asdict(self)


def check_games(games: int) -> None:
    """Checks the number of games of a match.

    Raises:
        ValueError: it is not a positive even number, or is more than ``MOST_GAMES``.
    """
    if games < 2 or games % 2:
        raise ValueError(f"games={games} is not allowed: mirrored games come in pairs, give a positive even number")
    if games > MOST_GAMES:
        raise ValueError(f"games={games} is not allowed: give at most {MOST_GAMES:,}")


def play_match(
    a: Agent,
    b: Agent,
    games: int,
    seed: int = 0,
    *,
    seconds: float | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> MatchResult:
    """Plays ``games`` games, half of them the mirror images of the others.

    With a time limit the result may hold fewer games, ``result.games``. They are the first ones of the unlimited
    match, in whole pairs, and include every game that began: so short games are not favoured, and the intervals
    are those of a match of this many games.

    Args:
        a, b: the players.
        games: the number of games, even.
        seed: random seed of the deals.
        seconds: begin no more games after this time; running games are finished. At least one pair is played.
        on_progress: called from time to time with the number of further games done.

    Raises:
        ValueError: ``games`` is not a positive even number, ``seconds`` is not above 0, or an agent chose an illegal
            card.
    """
    started = time.perf_counter()
    if seconds is None:
        parts = play_games(a, b, games, seed, on_progress=on_progress)
    else:
        parts = _play_for(a, b, games, seed, seconds, on_progress)
    played = Games.merged(list(parts))
    return summarise(a.name, b.name, seed, played, time.perf_counter() - started)


def _play_for(
    a: Agent, b: Agent, games: int, seed: int, seconds: float, on_progress: Callable[[int], None]
) -> Generator[Games]:
    """Plays one pair, and then twice as many as before each time, or as many as should fit into the time left at the
    last speed."""
    check_games(games)
    if not seconds > 0:
        raise ValueError(f"seconds={seconds} is not allowed: give more than 0")
    end, most = time.perf_counter() + seconds, games // 2
    done, pairs, left = 0, 1, seconds
    while left > 0 and done < most:
        last = min(done + pairs, most)
        yield from play_shards(a, b, shards(seed, streams(seed, last), done, last), on_progress=on_progress)
        done, before, left = last, left, end - time.perf_counter()
        pairs = max(1, min(2 * pairs, int(left * pairs / (before - left))))


def play_games(
    a: Agent,
    b: Agent,
    games: int,
    seed: int = 0,
    *,
    until: float | None = None,
    threads: int = 1,
    cluster: Cluster | None = None,
    keep_records: bool = False,
    measure_luck: bool = False,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Generator[Games, None, None]:
    """Plays the games of a match, part by part, in order; the games are the same for any number of threads.

    Args:
        a, b: the players.
        games: the number of games, even.
        seed: random seed of the deals.
        until: stop earlier when the 95 % interval lies within this distance of the win rate; 0.005 is half a percentage
            point. :func:`evaluate.statistics.looks` says when this is checked.
        threads: the number of threads, which share parts of 1,024 games.
        cluster: a cluster to play such parts on, in place of threads; the games are the same.
        keep_records: also write the games down, card by card.
        measure_luck: also measure how lucky ``a`` was; ``until`` then asks for the interval without luck.
        on_progress: called from time to time with the number of further games done.

    Raises:
        ValueError: ``games`` is not a positive even number, or an agent chose an illegal card.
    """
    check_games(games)
    deals = streams(seed, games // 2)
    played: list[Games] = []
    done = 0
    for pairs in (games // 2,) if until is None else looks(games // 2):
        parts = shards(seed, deals, done, pairs)
        for part in (
            play_shards(a, b, parts, threads, keep_records, on_progress, measure_luck)
            if cluster is None
            else cluster.play_shards(a, b, parts, keep_records, on_progress, measure_luck)
        ):
            if until is not None:
                played.append(replace(part, records=()))
            yield part
        done = pairs
        if until is not None and reach_of(played) <= until:
            return


def reach_of(parts: Sequence[Games]) -> float:
    """Distance from the win rate of games to the farther end of its interval; without luck, if luck was measured."""
    games = Games.merged(parts)
    return reach(mean_of_pairs(games.won), None if games.luck is None else pairs_less_luck(games)[:, WINS])


def pairs_less_luck(games: Games) -> np.ndarray:
    """(N, 3) results of ``a`` minus luck in each pair of games, by ``RESULTS``.

    Raises:
        ValueError: luck was not measured.
    """
    return less_luck(mean_of_pairs(results(games.scores)), mean_of_pairs(_luck_of(games)))


def _luck_of(games: Games) -> np.ndarray:
    if games.luck is None:
        raise ValueError("the luck of these games was not measured")
    luck: np.ndarray = games.luck.sum(axis=1)
    return luck


def luck_adjusted(games: Games) -> LuckAdjusted:
    """The results of games minus luck.

    Raises:
        ValueError: luck was not measured.
    """
    single, pairs = results(games.scores), pairs_less_luck(games)
    win_rate, interval = rate_less_luck(mean_of_pairs(games.won), pairs[:, WINS])
    return LuckAdjusted(
        win_rate,
        interval,
        float(pairs[:, NET_POINTS].mean()),
        mean_interval(pairs[:, NET_POINTS]),
        float(pairs[:, MATCH_POINTS].mean()),
        mean_interval(pairs[:, MATCH_POINTS]),
        _ratios(mean_of_pairs(single), pairs),
        _ratios(single, less_luck(single, _luck_of(games))),
    )


def _ratios(with_luck: np.ndarray, without: np.ndarray) -> dict[str, float]:
    """The factors by which the variances of results (N, 3) have become smaller; 1 where nothing varies.

    Nothing varies between two copies of a deterministic player: each wins one game of each pair.
    """
    before, after = with_luck.var(axis=0), without.var(axis=0)
    return dict(zip(RESULTS, np.divide(before, after, out=np.ones(len(RESULTS)), where=after > 1e-20).tolist()))


def summarise(a: str, b: str, seed: int, games: Games, seconds: float) -> MatchResult:
    """The result of games between players of these names, over deals of this seed, that took this many seconds."""
    scores, deals = games.scores, games.deals
    won, margin = mean_of_pairs(games.won), mean_of_pairs(scores[:, 0] - scores[:, 1])
    points = match_points(scores)
    net_points = mean_of_pairs(points[:, 0] - points[:, 1])
    players = ("a", "b")

    def skunks(line: int) -> dict[str, int]:
        return {p: int((scores[:, 1 - k] <= line).sum()) for k, p in enumerate(players)}

    return MatchResult(
        a=a,
        b=b,
        games=len(scores),
        seed=seed,
        wins=int(games.won.sum()),
        win_rate=float(won.mean()),
        interval=paired_rate_interval(won),
        margin=float(margin.mean()),
        margin_interval=mean_interval(margin),
        match_points={p: int(points[:, k].sum()) for k, p in enumerate(players)},
        net_match_points=float(net_points.mean()),
        net_match_points_interval=mean_interval(net_points),
        skunks=skunks(SKUNK),
        double_skunks=skunks(DOUBLE_SKUNK),
        deals_per_game=float(deals.sum() / 2 / len(scores)),
        points_per_deal={
            p: {
                role: {source: float(games.tally[k, r, s] / deals[k, r]) for s, source in enumerate(SOURCES)}
                for r, role in enumerate(ROLES)
            }
            for k, p in enumerate(players)
        },
        microseconds_per_decision={
            p: float(1e6 * games.seconds[k] / games.decisions[k]) for k, p in enumerate(players)
        },
        seconds=seconds,
        luck_adjusted=None if games.luck is None else luck_adjusted(games),
    )
