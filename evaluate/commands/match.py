"""A match, reported as a table and in the requested files; games from forty positions near the end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.progress import Progress

from crib_env.agents import Agent, make_agent
from crib_env.engine import WIN
from crib_env.evaluate.command_line import AgentName, SomeAmount, SomeExecutor, SomeFile, SomeJson
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.executors import connected
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.job import held, lock_of
from crib_env.evaluate.matches.blocks import Pace, play_pairs, working
from crib_env.evaluate.matches.game_records import add_records
from crib_env.evaluate.matches.match import (
    MatchResult,
    check_games,
    pair_results,
    pairs_less_luck,
    play_games,
    summarise,
)
from crib_env.evaluate.matches.match_table import faults_in_words, match_table
from crib_env.evaluate.matches.mirrored import Games, Shard, mean_of_pairs, play_shard
from crib_env.evaluate.matches.resuming import take_up
from crib_env.evaluate.matches.stopping import Narrow, Sprt, StoppingRule
from crib_env.evaluate.progress import advancing, progress_bar
from crib_env.evaluate.ranges import Games as GameAmount
from crib_env.evaluate.ranges import Positive, Range, Seed, Threads
from crib_env.evaluate.skill.luck.table import WINS
from crib_env.evaluate.statistics import rate_less_luck
from crib_env.players.win_rate import paired_rate_interval

GAMES, MOST_GAMES = 10_000, 1_000_000  # the default numbers of games, without and with a reason to stop earlier
_WRITING = 0.05  # share of the time that writing the result again and again may take
Elo = Annotated[float, Range(-1_000, 1_000)]


@dataclass(frozen=True)
class MatchArguments:
    """The match to play, and the files to write."""

    a: AgentName
    """An agent: a name, a name with settings after a colon, or the folder of a run."""
    b: AgentName
    """Its opponent."""
    games: SomeAmount = None
    """Number of games, even: 10,000, or with --until, --sprt or --seconds at most 1,000,000. 1 is a game without its
    mirror image."""
    until: Annotated[str | None, tyro.conf.arg(metavar="PERCENT", help_behavior_hint="")] = None
    """Stop when the win rate's 95 % interval is within this distance, in percentage points, as in ±0.5%."""
    seed: Seed = 0
    """Random seed of the deals."""
    threads: Threads = 2
    """Number of threads."""
    json_file: SomeJson = None
    """Also write the result to this file, again and again as games are finished."""
    record: SomeFile = None
    """Also write every game to this file, card by card, as soon as it is finished, for `analyse` and --resume."""
    luck_adjusted: bool = False
    """Also report results minus the luck of cards and starters, with narrower intervals, which --until and --sprt then
    use."""
    executor: SomeExecutor = None
    """Play on workers in place of threads: processes, ray or dask, on the cores of this machine; ray:ADDRESS or
    dask:ADDRESS on a cluster."""
    sprt: Annotated[tuple[Elo, Elo] | None, tyro.conf.arg(metavar="ELO0 ELO1", help_behavior_hint="")] = None
    """Test whether the first agent is ELO0 or ELO1 stronger, and stop when either is clear: each wrong verdict has a
    chance of 5 % at most. The win rate of a match that stops so is biased, towards the verdict."""
    seconds: Annotated[Positive | None, tyro.conf.arg(help_behavior_hint="")] = None
    """Begin no more games after this time; running games are finished."""
    resume: bool = False
    """Go on after the games that the file of --record holds. They must be of this match."""


def read_half_width(text: str) -> float:
    """A half width in percentage points as a share: ``"0.5"``, ``"0.5%"`` and ``"±0.5%"`` are 0.005.

    Raises:
        ValueError: it is not a number, or not between 0 and 50.
    """
    try:
        share = float(text.strip().removeprefix("±").removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not 0 < share < 0.5:
        raise ValueError(f"until={text!r} is not allowed: give percentage points between 0 and 50, as in ±0.5%")
    return share


def match(asked: Annotated[MatchArguments, tyro.conf.arg(name="")]) -> None:
    """Plays mirrored games: the same deals twice, with the seats swapped.

    Ctrl-C or an error, such as a full disk, ends it and keeps the finished games.

    Raises:
        ValueError: an argument is not allowed.
        Exception, KeyboardInterrupt: what stopped the match, after reporting the finished games.
    """
    check_outputs(asked.json_file, asked.record)
    rule = _rule(asked)
    _check_together(asked)
    games = asked.games
    if games is None:
        games = GAMES if rule is None and asked.seconds is None else MOST_GAMES
    first, second = make_agent(asked.a), make_agent(asked.b)
    if games == 1:
        _play_one(first, second, asked)
        return
    check_games(games)
    with ExitStack() as opened:
        if asked.record is not None:
            opened.enter_context(held(asked.record))
            opened.callback(lock_of(asked.record).unlink, missing_ok=True)
        _play(first, second, games, rule, asked)


def _rule(asked: MatchArguments) -> StoppingRule | None:
    if asked.sprt is not None:
        if asked.until is not None:
            raise ValueError("--until and --sprt each say when to stop: give one of them")
        return Sprt.between(*asked.sprt)
    return None if asked.until is None else Narrow(read_half_width(asked.until))


def _check_together(asked: MatchArguments) -> None:
    if asked.resume and asked.record is None:
        raise ValueError("--resume needs --record FILE, the games of the match to go on with")
    if asked.record is not None and asked.record.exists() and not asked.resume:
        raise ValueError(f"{asked.record} exists already: go on with its match by --resume, or give another file")
    if asked.seconds is not None and asked.executor is not None:
        raise ValueError("--seconds is not allowed with --executor: a cluster begins games long before they are played")


def _play(a: Agent, b: Agent, games: int, rule: StoppingRule | None, asked: MatchArguments) -> None:
    started = time.perf_counter()
    kept = None
    if asked.resume and asked.record is not None:
        kept = take_up(asked.record, a, b, Shard.of(asked.seed, 0, games // 2, measure_luck=asked.luck_adjusted))
    parts = [] if kept is None else [kept]

    def result() -> MatchResult:
        return summarise(a.name, b.name, asked.seed, Games.merged(parts), time.perf_counter() - started)

    def write(found: MatchResult) -> None:
        if asked.json_file is not None:
            test = {"sprt": rule.found(*pair_results(parts))} if isinstance(rule, Sprt) else {}
            write_json(asked.json_file, found.to_json() | test)

    stopped: BaseException | None = None
    try:
        with progress_bar() as progress, ExitStack() as opened:
            kept_games = 0 if kept is None else len(kept.scores)
            bar = _Bar(progress, f"{a.name} against {b.name}", games, rule, asked.seconds, kept_games)
            cluster = opened.enter_context(connected(asked.executor)) if asked.executor is not None else None
            playing = play_games(
                a,
                b,
                games,
                asked.seed,
                until=rule,
                seconds=asked.seconds,
                threads=asked.threads,
                cluster=cluster,
                keep_records=asked.record is not None,
                measure_luck=asked.luck_adjusted,
                kept=kept,
                on_progress=bar.advance,
            )
            next_write = 0.0
            for part in opened.enter_context(closing(playing)):
                if asked.record is not None:
                    add_records(asked.record, part.records)
                parts.append(replace(part, records=()))
                bar.look(parts)
                before = time.perf_counter()
                if asked.json_file is not None and before >= next_write:
                    write(result())
                    after = time.perf_counter()
                    next_write = after + (after - before) / _WRITING
    except (Exception, KeyboardInterrupt) as error:
        if not parts:
            raise
        stopped = error
    found = result()
    try:
        write(found)
    finally:
        _print_result(found, parts, rule)
        if stopped is not None:
            console.print(_how_to_go_on(found.games, asked.record))
    if stopped is not None:
        raise stopped


def _print_result(found: MatchResult, parts: list[Games], rule: StoppingRule | None) -> None:
    console.print(match_table(found))
    _print_faults([(found.a, found.faults["a"]), (found.b, found.faults["b"])])
    if rule is not None:
        console.print(rule.verdict(*pair_results(parts)))


def _how_to_go_on(games: int, record: Path | None) -> str:
    if record is None:
        return f"stopped after {games:,} games; a match with --record FILE can go on where it stopped"
    return f"stopped; {games:,} games are kept in {record}: the same command with --resume goes on after them"


class _Bar:
    """The progress of a match: games, of an estimated number if a rule may stop it, or seconds of a time limit."""

    def __init__(
        self, progress: Progress, name: str, games: int, rule: StoppingRule | None, seconds: float | None, kept: int
    ) -> None:
        self._progress, self._name, self._most, self._rule = progress, name, games // 2, rule
        self._seconds, self._started = seconds, time.perf_counter()
        self._looks = set() if rule is None else set(rule.looks(self._most))
        known = games if rule is None else None
        # Games that are kept count as done, but not for the speed.
        self._task = progress.add_task(name, total=seconds or known, completed=0 if seconds else kept)

    def advance(self, done: int) -> None:
        """Notes further games."""
        if self._seconds is None:
            self._progress.update(self._task, advance=done)
        else:
            spent = time.perf_counter() - self._started
            self._progress.update(self._task, completed=min(spent, self._seconds))

    def look(self, parts: list[Games]) -> None:
        """Estimates the length of the match from the blocks so far."""
        pairs = sum(part.pairs for part in parts)
        if self._seconds is not None:
            self._progress.update(self._task, description=f"{self._name}, {2 * pairs:,} games")
        elif self._rule is not None and pairs in self._looks:
            self._progress.update(self._task, total=2 * self._rule.needed(self._most, *pair_results(parts)))


def _print_faults(faults: list[tuple[str, Mapping[str, int]]]) -> None:
    for line in faults_in_words(faults):
        console.print(line, highlight=False, soft_wrap=True)


def _play_one(a: Agent, b: Agent, asked: MatchArguments) -> None:
    """Plays one game and prints only who won, without intervals."""
    without = {
        "--until": asked.until,
        "--sprt": asked.sprt,
        "--seconds": asked.seconds,
        "--json": asked.json_file,
        "--resume": asked.resume,
        "--executor": asked.executor,
        "--luck-adjusted": asked.luck_adjusted,
    }
    if given := [name for name, value in without.items() if value]:
        raise ValueError(f"games=1 has no interval: {', '.join(given)} is not allowed with it")
    one = Shard.of(asked.seed, 0, 1, keep_records=asked.record is not None)
    played = play_shard(a, b, replace(one, is_single=True))
    if asked.record is not None:
        add_records(asked.record, played.records)
    winner = int(played.scores[0].argmax())
    console.print(f"{(a, b)[winner].name} wins {played.scores[0, winner]} to {played.scores[0, 1 - winner]}")
    _print_faults(list(zip((a.name, b.name), played.faults)))


_EVEN = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20, 22, 25)
_APART = "1–5 2–6 3–8 4–10 6–10 8–14 10–15 12–18 14–16 15–20 16–24 18–22 20–25"
_UNEVEN = [tuple(map(int, pair.split("–"))) for pair in _APART.split()]
POSITIONS: tuple[tuple[int, int], ...] = (
    *((n, n) for n in _EVEN),
    *((fewer, more) for fewer, more in _UNEVEN),
    *((more, fewer) for fewer, more in _UNEVEN),
)
"""Holes that the dealer and pone still need: forty positions, in all of which both have more than 95."""


def play_endgames(
    a: Agent, b: Agent, games: int, seed: int, threads: int, measure_luck: bool = False
) -> dict[tuple[int, int], Games]:
    """Mirrored games of ``a`` against ``b`` from each of ``POSITIONS``.

    Raises:
        ValueError: ``games`` is not a positive even number.
    """
    check_games(games)
    found, pace = {}, Pace()
    with (
        advancing(f"{a.name} against {b.name}", len(POSITIONS) * games) as on_progress,
        working(a, b, threads, on_progress=on_progress) as playing,
    ):
        for number, (dealer, pone) in enumerate(POSITIONS):
            shard = Shard.of(seed + number, 0, games // 2, measure_luck=measure_luck)
            shard = replace(shard, position=(WIN - dealer, WIN - pone))
            found[dealer, pone] = Games.merged(list(play_pairs(playing, shard, pace)))
    return found


def endgames(
    a: AgentName,
    b: AgentName,
    games: GameAmount = 2_000,
    seed: Seed = 0,
    luck_adjusted: bool = False,
    threads: Threads = 2,
) -> None:
    """Plays from forty positions near the end of a game, to measure who plays to the score.

    Args:
        a: An agent: a name, a name with settings after a colon, or the folder of a run.
        b: Its opponent.
        games: Number of games at each position, even; in half of them the first agent deals.
        seed: Random seed of the deals.
        luck_adjusted: Take luck out of the results.
        threads: Number of threads.
    """
    first, second = make_agent(a), make_agent(b)
    played = play_endgames(first, second, games, seed, threads, luck_adjusted)
    won = [mean_of_pairs(one.won) for one in played.values()]
    less_luck = [pairs_less_luck(one)[:, WINS] for one in played.values()] if luck_adjusted else None
    how = f"{games:,} mirrored games a position{', less luck' if luck_adjusted else ''}"
    title = f"{first.name} against {second.name} near the end, {how}"
    columns = ("dealer needs", "pone needs", "win rate", "95 % interval")
    table = table_of(title, columns, words=0, title_justify="left")
    for n, (dealer, pone) in enumerate(played):
        table.add_row(str(dealer), str(pone), *_rate(won[n : n + 1], less_luck and less_luck[n : n + 1]))
    table.add_section()
    table.add_row("all", "", *_rate(won, less_luck))
    console.print(table)


def _rate(won: list[np.ndarray], less_luck: list[np.ndarray] | None) -> tuple[str, str]:
    """The rate over some positions, and its interval; minus luck where that is given."""
    every = np.concatenate(won)
    if less_luck is None:
        rate, (low, high) = float(every.mean()), paired_rate_interval(every)
    else:
        rate, (low, high) = rate_less_luck(every, np.concatenate(less_luck))
    return f"{rate:.2%}", f"{low:.2%} to {high:.2%}"
