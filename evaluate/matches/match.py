"""Matches: mirrored games between two agents, with results and their intervals, as a table, and taken up again."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from crib_env.agents import Agent
from crib_env.engine import SKUNK
from crib_env.evaluate.executors import Cluster
from crib_env.evaluate.matches.game_records import GameRecord, add_records
from crib_env.evaluate.matches.mirrored import Games, Shard, mean_of_pairs, playing
from crib_env.evaluate.skill.luck.variates import (
    MATCH_POINTS,
    NET_POINTS,
    RESULTS,
    WINS,
    less_luck,
    results,
)
from crib_env.evaluate.statistics import StoppingRule, half_width, mean_interval, rate_less_luck
from crib_env.files.whole_file import check_output
from crib_env.players.games import paired_rate_interval
from crib_env.values import Games as GameAmount
from crib_env.values import typed

_READ_AT_ONCE = 1_024  # games of a file, replayed side by side


@dataclass(frozen=True)
class Results:
    """Results from the side of ``a``, with their 95 % intervals: the win rate, points a game, and ACC match points a
    game (2 for a win, 3 with a skunk)."""

    win_rate: float
    interval: tuple[float, float]
    margin: float
    margin_interval: tuple[float, float]
    net_match_points: float
    net_match_points_interval: tuple[float, float]

    def from_b(self) -> Results:
        """The same from the side of ``b``."""
        ends = (self.margin_interval, self.net_match_points_interval)
        margin, net = ((-high, -low) for low, high in ends)
        rates = 1 - self.interval[1], 1 - self.interval[0]
        return Results(1 - self.win_rate, rates, -self.margin, margin, -self.net_match_points, net)


@dataclass(frozen=True)
class LuckAdjusted(Results):
    """The results of a match minus luck (:mod:`crib_env.evaluate.skill.luck.variates`).

    ``variance_ratio`` is, for each of ``RESULTS``, the variance of a mirrored pair divided by its variance without
    luck; ``single_variance_ratio`` is the same for single games.
    """

    variance_ratio: dict[str, float]
    single_variance_ratio: dict[str, float]


@dataclass(frozen=True)
class MatchResult(Results):
    """The result of a match.

    ``microseconds_per_decision`` leaves out the first deal of each game, in which kernels are still compiled, and games
    that were kept from before; it is empty if there are no others.
    """

    a: str
    b: str
    games: int
    seed: int
    wins: int
    skunks: dict[str, int]
    deals_per_game: float
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
    record: Path | None = None,
    keep_records: bool = False,
    measure_luck: bool = False,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Generator[Games, None, None]:
    """Plays the games of a match, block by block, in order; the games are the same for any number of threads.

    Args:
        until: stop earlier, at the first of its looks at which this rule is met.
        threads: how many share the blocks (:class:`crib_env.evaluate.matches.mirrored.Pace`), or a cluster does.
        record: a file to which each block is added, card by card, before it is yielded. The games of this match that
            it holds come first, and are not played again (:func:`kept_games`).
        keep_records: also yield games card by card.
        measure_luck: also measure how lucky ``a`` was; ``until`` then looks at results without luck.

    Raises:
        ValueError: ``games`` is not a positive even number, an agent chose an illegal card, or the file holds something
            else.
    """
    typed(games, GameAmount, "games")
    most, played = games // 2, list[Games]()
    keep_records = keep_records or record is not None
    whole = Shard.of(seed, 0, most, keep_records=keep_records, measure_luck=measure_luck)
    if record is not None and (kept := kept_games(record, a, b, whole)) is not None:
        played.append(kept)
        on_progress(len(kept.scores))
        yield kept
    done = sum(part.pairs for part in played)
    with playing(a, b, threads, cluster, on_progress) as play:
        for look in (most,) if until is None else until.looks(most):
            if look > done:
                for part in play(whole.part(done, look - done)):
                    if record is not None:
                        add_records(record, part.records)
                    played.append(replace(part, records=()))
                    done += part.pairs
                    yield played[-1] if record is not None else part
            if until is not None and until.is_met(*pair_results(played, look)):
                return


def pair_results(parts: Sequence[Games], first: int | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """The share of each pair that ``a`` won, 0, ½ or 1, and, if luck was measured, the same minus luck: (N,) each, of
    all pairs or the first ones."""
    games = Games.merged(list(parts))
    won = mean_of_pairs(games.won)[:first]
    return won, None if games.luck is None else pairs_less_luck(games, first)[:, WINS]


def pairs_less_luck(games: Games, first: int | None = None) -> np.ndarray:
    """(N, 3) results of ``a`` minus luck in each pair of games, or only in the first ones, by ``RESULTS``."""
    return less_luck(mean_of_pairs(results(games.scores))[:first], mean_of_pairs(games.all_luck)[:first])


def _figures(rate: float, interval: tuple[float, float], pairs: np.ndarray) -> dict[str, Any]:
    """The fields of :class:`Results`, from ``RESULTS`` (N, 3) of pairs."""
    points, net = pairs[:, NET_POINTS], pairs[:, MATCH_POINTS]
    return {
        "win_rate": rate,
        "interval": interval,
        "margin": float(points.mean()),
        "margin_interval": mean_interval(points),
        "net_match_points": float(net.mean()),
        "net_match_points_interval": mean_interval(net),
    }


def luck_adjusted(games: Games) -> LuckAdjusted:
    """The results of games minus luck."""
    single, pairs = results(games.scores), pairs_less_luck(games)
    figures = _figures(*rate_less_luck(mean_of_pairs(games.won), pairs[:, WINS]), pairs)
    ratios = _ratios(mean_of_pairs(single), pairs), _ratios(single, less_luck(single, games.all_luck))
    return LuckAdjusted(**figures, variance_ratio=ratios[0], single_variance_ratio=ratios[1])


def _ratios(with_luck: np.ndarray, without: np.ndarray) -> dict[str, float]:
    """The factors by which the variances of results (N, 3) have become smaller; 1 where nothing varies, as between two
    copies of a deterministic player."""
    before, after = with_luck.var(axis=0), without.var(axis=0)
    return dict(zip(RESULTS, np.divide(before, after, out=np.ones(len(RESULTS)), where=after > 1e-20).tolist()))


def summarise(a: str, b: str, seed: int, games: Games, seconds: float) -> MatchResult:
    """The result of games between players of these names, over deals of this seed, that took this many seconds."""
    won, spent = mean_of_pairs(games.won), 1e6 * games.seconds / np.maximum(games.decisions, 1)
    players = tuple(enumerate(("a", "b")))
    return MatchResult(
        **_figures(float(won.mean()), paired_rate_interval(won), mean_of_pairs(results(games.scores))),
        a=a,
        b=b,
        games=len(games.scores),
        seed=seed,
        wins=int(games.won.sum()),
        skunks={player: int((games.scores[:, 1 - k] <= SKUNK).sum()) for k, player in players},
        deals_per_game=games.deals / len(games.scores),
        microseconds_per_decision={player: float(spent[k]) for k, player in players if games.decisions[k]},
        seconds=seconds,
        luck_adjusted=None if games.luck is None else luck_adjusted(games),
    )


def match_table(result: MatchResult) -> Table:
    """Win rate, net points and skunks of a match, less luck too if that was measured."""
    table = Table(title=f"{result.a} against {result.b}: {result.games:,} mirrored games")
    table.add_column("")
    for name in (result.a, result.b):
        table.add_column(name, justify="right", overflow="fold")  # the paths of two run folders may begin alike

    def show(of: Results, what: str) -> None:
        both = (of, of.from_b())
        table.add_row(f"{what}win rate", *(f"{one.win_rate:.2%}" for one in both))
        table.add_row("  95 % interval", *(f"{one.interval[0]:.2%} to {one.interval[1]:.2%}" for one in both))
        for name, value, interval, digits in (
            ("net points a game", of.margin, of.margin_interval, 2),
            ("net match points a game", of.net_match_points, of.net_match_points_interval, 3),
        ):
            shown = f"{value:+.{digits}f} ± {half_width(interval):.{digits}f}"
            table.add_row(f"  {name}", shown, f"{-value:+.{digits}f}")

    show(result, "")
    table.add_row("skunks given", *(f"{result.skunks[player]:,}" for player in ("a", "b")))
    if (less := result.luck_adjusted) is not None:
        table.add_section()
        show(less, "less luck: ")
        for name, ratio in less.variance_ratio.items():
            table.add_row(f"  variance of {name}", f"÷ {ratio:.2f}", "")
            table.add_row("    of single games", f"÷ {less.single_variance_ratio[name]:.2f}", "")
    table.add_section()
    if spent := result.microseconds_per_decision:
        table.add_row("µs a decision", *(f"{spent[player]:,.2f}" for player in ("a", "b")))
    table.caption = f"{result.deals_per_game:.2f} deals a game, {result.seconds:.1f} s"
    return table


def kept_games(path: Path, a: Agent, b: Agent, whole: Shard) -> Games | None:
    """The games of a match that its file of games holds, without the times of decisions; ``None`` if there are none.

    A last line or game that a kill has left without its pair is cut off, once it is known to be of this match.

    Raises:
        ValueError: the file holds games of another match, more games than this one, or a line that is no game; the
            message names it.
    """
    check_output(path)  # reading a FIFO would wait forever
    if not path.exists():
        return None
    with open(path, "rb+") as file:
        lines = file.readlines()
        n = sum(line.endswith(b"\n") for line in lines) // 2 * 2
        records = [_record_of(path, line, k, (a.name, b.name), whole) for k, line in enumerate(lines)]
        if len(lines) > 2 * len(whole.deals):
            raise ValueError(f"{path} holds more games than games={2 * len(whole.deals)}: give as many, or more")
        file.truncate(sum(map(len, lines[:n])))
    if not n:
        return None
    kept = [record for record in records[:n] if record is not None]
    scores = np.array([record.scores if k % 2 == 0 else record.scores[::-1] for k, record in enumerate(kept)])
    luck = None
    if whole.measure_luck:
        luck = np.concatenate([_luck_of(kept[k : k + _READ_AT_ONCE]) for k in range(0, n, _READ_AT_ONCE)])
    return Games(scores, sum(len(record.deals) for record in kept), np.zeros(2, np.int64), np.zeros(2), luck=luck)


def _record_of(path: Path, line: bytes, k: int, names: tuple[str, str], whole: Shard) -> GameRecord | None:
    """The k-th game of a match; ``None`` if its line has only begun."""
    players = names if k % 2 == 0 else names[::-1]
    begins = GameRecord(k, whole.seed, players, 0, (), (), (0, 0)).to_line().partition(', "first_dealer"')[0].encode()
    if line[: len(begins)] != begins[: len(line)]:
        raise ValueError(
            f"{path}, line {k + 1} is neither a game nor the beginning of game {k} of {players[0]} against "
            f"{players[1]}, seed {whole.seed}; delete it, or give another file"
        )
    if not line.endswith(b"\n"):
        return None
    try:
        record = GameRecord.of_line(line.decode())
        if whole.measure_luck:  # the game is replayed
            record.check()
        return record
    except ValueError as error:
        raise ValueError(f"{path}, line {k + 1}: {error}") from None


def _luck_of(records: Sequence[GameRecord]) -> np.ndarray:
    """The luck of the first player of a match in recorded games, as :attr:`Games.luck` has it."""
    from crib_env.evaluate.skill.analysis.decisions import RecordedGames  # here, as it takes long

    replayed = RecordedGames(records)
    for _ in replayed.moments():
        pass
    return replayed.meter.luck * np.where(np.arange(len(records)) % 2 == 0, 1, -1)[:, None, None]
