"""A match, reported as a table and in the requested files; games from forty positions near the end."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import tyro

from crib_env.agents import Agent, make_agent
from crib_env.engine import WIN
from crib_env.evaluate.command_line import AgentName, SomeExecutor, SomeFile, SomeGames, SomeJson
from crib_env.evaluate.console import advancing, console, table_of
from crib_env.evaluate.executors import connected
from crib_env.evaluate.files import check_outputs, held, lock_of, plain, write_json
from crib_env.evaluate.matches.match import (
    MatchResult,
    match_table,
    pair_results,
    play_games,
    summarise,
)
from crib_env.evaluate.matches.mirrored import Games, Shard, playing
from crib_env.evaluate.statistics import Narrow, Sprt, StoppingRule, rate_of_pairs
from crib_env.values import Games as GameAmount
from crib_env.values import Range, Seed, Threads, typed

GAMES, MOST_GAMES = 10_000, 1_000_000  # the default numbers of games, without and with a reason to stop earlier
_WRITING = 5.0  # seconds between two writings of the result
Elo = Annotated[float, Range(-1_000, 1_000)]
Percent = Annotated[float, Range(0, 50, above=True)]


@dataclass(frozen=True)
class MatchArguments:
    """The match to play, and the files to write."""

    a: AgentName
    """An agent: a name, a name with settings after a colon, or the folder of a run."""
    b: AgentName
    """Its opponent."""
    games: SomeGames = None
    """Number of games, even: 10,000, or with --until or --sprt at most 1,000,000."""
    until: Annotated[Percent | None, tyro.conf.arg(metavar="PERCENT", help_behavior_hint="")] = None
    """Stop when the win rate's 95 % interval is within this distance, in percentage points, as in 0.5."""
    seed: Seed = 0
    """Random seed of the deals."""
    threads: Threads = 2
    """Number of threads."""
    json_file: SomeJson = None
    """Also write the result to this file, again and again as games are finished."""
    record: SomeFile = None
    """Also write every game to this file, card by card, as soon as it is finished, for `analyse`. The games that an
    existing file holds must be of this match, and are not played again."""
    luck_adjusted: bool = False
    """Also report results minus the luck of cards and starters, with narrower intervals, which --until and --sprt then
    use."""
    executor: SomeExecutor = None
    """Play on workers in place of threads: processes, ray or dask, on the cores of this machine; ray:ADDRESS or
    dask:ADDRESS on a cluster."""
    sprt: Annotated[tuple[Elo, Elo] | None, tyro.conf.arg(metavar="ELO0 ELO1", help_behavior_hint="")] = None
    """Test whether the first agent is ELO0 or ELO1 stronger, and stop when either is clear: each wrong verdict has a
    chance of 5 % at most. The win rate of a match that stops so is biased, towards the verdict."""


def match(asked: Annotated[MatchArguments, tyro.conf.arg(name="")]) -> None:
    """Plays mirrored games: the same deals twice, with the seats swapped.

    Ctrl-C or an error, such as a full disk, ends it and keeps the finished games.
    """
    check_outputs(asked.json_file, asked.record)
    if asked.sprt is not None and asked.until is not None:
        raise ValueError("--until and --sprt each say when to stop: give one of them")
    rule: StoppingRule | None = None if asked.until is None else Narrow(asked.until / 100)
    if asked.sprt is not None:
        rule = Sprt(*asked.sprt)
    games = asked.games or (GAMES if rule is None else MOST_GAMES)
    typed(games, GameAmount, "games")
    with ExitStack() as opened:
        if asked.record is not None:
            opened.enter_context(held(asked.record))
            opened.callback(lock_of(asked.record).unlink, missing_ok=True)
        _play(make_agent(asked.a), make_agent(asked.b), games, rule, asked)


def _play(a: Agent, b: Agent, games: int, rule: StoppingRule | None, asked: MatchArguments) -> None:
    started, written = time.perf_counter(), -_WRITING
    parts: list[Games] = []

    def result() -> MatchResult:
        return summarise(a.name, b.name, asked.seed, Games.merged(parts), time.perf_counter() - started)

    def write(found: MatchResult) -> None:
        if asked.json_file is not None:
            test = {"sprt": rule.found(*pair_results(parts))} if isinstance(rule, Sprt) else {}
            write_json(asked.json_file, plain(found) | plain(test))

    stopped: BaseException | None = None
    try:
        with (
            connected(asked.executor) as cluster,
            advancing(f"{a.name} against {b.name}", games if rule is None else None) as on_progress,
            closing(
                play_games(
                    a,
                    b,
                    games,
                    asked.seed,
                    until=rule,
                    threads=asked.threads,
                    cluster=cluster,
                    record=asked.record,
                    measure_luck=asked.luck_adjusted,
                    on_progress=on_progress,
                )
            ) as found,
        ):
            for part in found:
                parts.append(part)
                if asked.json_file is not None and time.perf_counter() - started > written + _WRITING:
                    write(result())
                    written = time.perf_counter() - started
    except (Exception, KeyboardInterrupt) as error:
        if not parts:
            raise
        stopped = error
    final = result()
    try:
        write(final)
    finally:
        console.print(match_table(final))
        if rule is not None:
            console.print(rule.verdict(*pair_results(parts)))
    if stopped is not None:
        how = f"stopped after {final.games:,} games; a match with --record FILE can go on where it stopped"
        if asked.record is not None:
            how = f"stopped; {final.games:,} games are kept in {asked.record}: the same command goes on"
        console.print(how)
        raise stopped


_EVEN = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20, 22, 25)
_APART = "1–5 2–6 3–8 4–10 6–10 8–14 10–15 12–18 14–16 15–20 16–24 18–22 20–25"
_UNEVEN = [tuple(map(int, pair.split("–"))) for pair in _APART.split()]
POSITIONS = (*((n, n) for n in _EVEN), *_UNEVEN, *(pair[::-1] for pair in _UNEVEN))
"""Holes that the dealer and pone still need: forty positions, in all of which both have more than 95."""


def play_endgames(
    a: Agent, b: Agent, games: int, seed: int, threads: int, measure_luck: bool = False
) -> dict[tuple[int, int], Games]:
    """Mirrored games of ``a`` against ``b`` from each of ``POSITIONS``; ``games`` at each, a positive even number."""
    typed(games, GameAmount, "games")
    found = {}
    with (
        advancing(f"{a.name} against {b.name}", len(POSITIONS) * games) as on_progress,
        playing(a, b, threads, on_progress=on_progress) as play,
    ):
        for number, (dealer, pone) in enumerate(POSITIONS):
            shard = Shard.of(seed + number, 0, games // 2, measure_luck=measure_luck)
            found[dealer, pone] = Games.merged(list(play(replace(shard, position=(WIN - dealer, WIN - pone)))))
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
    results = [pair_results([one]) for one in played.values()]
    how = f"{games:,} mirrored games a position{', less luck' if luck_adjusted else ''}"
    won, less = zip(*results)
    results.append((np.concatenate(won), np.concatenate(less) if luck_adjusted else None))
    table = table_of(
        f"{first.name} against {second.name} near the end, {how}",
        ("dealer needs", "pone needs", "win rate", "95 % interval"),
        words=0,
        title_justify="left",
    )
    for needed, found in zip([*played, ("all", "")], results):
        if needed[0] == "all":
            table.add_section()
        rate, (low, high) = rate_of_pairs(*found)
        table.add_row(*map(str, needed), f"{rate:.2%}", f"{low:.2%} to {high:.2%}")
    console.print(table)
