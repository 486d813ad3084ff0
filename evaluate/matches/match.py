"""Matches: mirrored games between two agents, with results and their intervals, and as a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.table import Table

from crib_env.agents import Agent
from crib_env.batch import SOURCES
from crib_env.engine import DOUBLE_SKUNK, ROLES, SKUNK
from crib_env.evaluate.executors import Cluster
from crib_env.evaluate.matches.mirrored import Games, Pace, Shard, mean_of_pairs, play_pairs, working
from crib_env.evaluate.matches.stopping import StoppingRule
from crib_env.evaluate.skill.luck.variates import MATCH_POINTS, NET_POINTS, RESULTS, WINS, less_luck, results
from crib_env.evaluate.statistics import half_width, match_points, mean_interval, rate_less_luck
from crib_env.players.games import paired_rate_interval
from crib_env.values import Games as GameAmount
from crib_env.values import typed


@dataclass(frozen=True)
class LuckAdjusted:
    """The results of a match minus luck, from the side of ``a``; intervals are at 95 %
    (:mod:`crib_env.evaluate.skill.luck.variates`).

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
    game, in which kernels are still compiled, and games that were kept from before; it is empty if there are no
    others.
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


def play_match(a: Agent, b: Agent, games: int, seed: int = 0, **how: Any) -> MatchResult:
    """Plays games, half of them the mirror images of the others; the arguments are those of :func:`play_games`."""
    started = time.perf_counter()
    played = Games.merged(list(play_games(a, b, games, seed, **how)))
    return summarise(a.name, b.name, seed, played, time.perf_counter() - started)


def play_games(
    a: Agent,
    b: Agent,
    games: int,
    seed: int = 0,
    *,
    until: StoppingRule | None = None,
    threads: int = 1,
    cluster: Cluster | None = None,
    keep_records: bool = False,
    measure_luck: bool = False,
    kept: Games | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Generator[Games, None, None]:
    """Plays the games of a match, block by block, in order; the games are the same for any number of threads.

    Args:
        games: the number of games, even.
        seed: random seed of the deals.
        until: stop earlier, at the first of its looks at which this rule is met.
        threads: the number of threads, which share the blocks (:class:`crib_env.evaluate.matches.mirrored.Pace`).
        cluster: a cluster to play blocks on, in place of threads; the games are the same.
        keep_records: also write the games down, card by card.
        measure_luck: also measure how lucky ``a`` was; ``until`` then looks at results without luck.
        kept: the first games of this match, played before, with the same ``measure_luck``; the games after them are
            played.
        on_progress: called from time to time with the number of further games done.

    Raises:
        ValueError: ``games`` is not a positive even number, or an agent chose an illegal card.
    """
    typed(games, GameAmount, "games")
    most, pace = games // 2, Pace()
    whole = Shard.of(seed, 0, most, keep_records=keep_records, measure_luck=measure_luck)
    done = 0 if kept is None else kept.pairs
    played = [] if kept is None else [kept]
    with working(a, b, threads, cluster, on_progress) as playing:
        for look in (most,) if until is None else until.looks(most):
            if look > done:
                for part in play_pairs(playing, whole.part(done, look - done), pace):
                    played.append(replace(part, records=()))
                    done += part.pairs
                    yield part
            if until is not None and until.is_met(*pair_results(played, look)):
                return


def pair_results(parts: Sequence[Games], first: int | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """The share of each pair that ``a`` won, 0, ½ or 1, and, if luck was measured, the same minus luck: (N,) each.

    Args:
        parts: the games.
        first: only of so many pairs.
    """
    games = Games.merged(list(parts))
    won = mean_of_pairs(games.won)[:first]
    return won, None if games.luck is None else pairs_less_luck(games, first)[:, WINS]


def pairs_less_luck(games: Games, first: int | None = None) -> np.ndarray:
    """(N, 3) results of ``a`` minus luck in each pair of games, or only in the first ones, by ``RESULTS``."""
    return less_luck(mean_of_pairs(results(games.scores))[:first], mean_of_pairs(games.all_luck)[:first])


def luck_adjusted(games: Games) -> LuckAdjusted:
    """The results of games minus luck."""
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
        _ratios(single, less_luck(single, games.all_luck)),
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
            p: float(1e6 * games.seconds[k] / games.decisions[k]) for k, p in enumerate(players) if games.decisions[k]
        },
        seconds=seconds,
        luck_adjusted=None if games.luck is None else luck_adjusted(games),
    )


def match_table(result: MatchResult) -> Table:
    """Win rate, margin and skunks of a match, and where the points came from."""
    table = Table(title=f"{result.a} against {result.b}: {result.games:,} mirrored games")
    table.add_column("")
    for name in (result.a, result.b):
        table.add_column(name, justify="right", overflow="fold")  # the paths of two run folders may begin alike

    def win_rate(name: str, of: MatchResult | LuckAdjusted) -> None:
        low, high = of.interval
        table.add_row(name, f"{of.win_rate:.2%}", f"{1 - of.win_rate:.2%}")
        table.add_row("  95 % interval", f"{low:.2%} to {high:.2%}", f"{1 - high:.2%} to {1 - low:.2%}")

    def mean(name: str, mean: float, interval: tuple[float, float], digits: int) -> None:
        shown = f"{mean:+.{digits}f} ± {half_width(interval):.{digits}f}"
        table.add_row(name, shown, f"{-mean:+.{digits}f}")

    def of_both(name: str, values: Mapping[str, float], digits: int = 0) -> None:
        table.add_row(name, *(f"{values[player]:,.{digits}f}" for player in ("a", "b")))

    win_rate("win rate", result)
    mean("net points a game", result.margin, result.margin_interval, 2)
    of_both("match points", result.match_points)
    mean("  net, a game", result.net_match_points, result.net_match_points_interval, 3)
    of_both("skunks given", result.skunks)
    of_both("  double skunks", result.double_skunks)
    if (less := result.luck_adjusted) is not None:
        table.add_section()
        win_rate("less luck: win rate", less)
        mean("  net points a game", less.margin, less.margin_interval, 2)
        mean("  net match points a game", less.net_match_points, less.net_match_points_interval, 3)
        for name, ratio in less.variance_ratio.items():
            table.add_row(f"  variance of {name}", f"÷ {ratio:.2f}", "")
            table.add_row("    of single games", f"÷ {less.single_variance_ratio[name]:.2f}", "")
    for role in ROLES:
        table.add_section()
        points = {player: of_player[role] for player, of_player in result.points_per_deal.items()}
        of_both(f"points a deal as {role}", {player: sum(of.values()) for player, of in points.items()}, 2)
        for source in SOURCES:
            if role == "dealer" or source not in ("heels", "crib"):
                of_both(f"  {source}", {player: of[source] for player, of in points.items()}, 2)
    table.add_section()
    if result.microseconds_per_decision:
        of_both("µs a decision", result.microseconds_per_decision, 2)
    table.caption = f"{result.deals_per_game:.2f} deals a game, {result.seconds:.1f} s"
    return table
