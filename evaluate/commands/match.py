"""Plays a match with a progress bar, and reports it as a table and in the requested files."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Annotated

import tyro

from crib_env.agents import Agent, make_agent
from evaluate.commands.arguments import AgentName, SomeAmount, SomeFile, SomeJson, SomeRay
from evaluate.console import console
from evaluate.files import check_outputs, write_json
from evaluate.matches.game_records import games_file
from evaluate.matches.match import play_games, reach_of, summarise
from evaluate.matches.match_table import match_table
from evaluate.matches.mirrored import Games, Shard, play_shard
from evaluate.on_ray import connected
from evaluate.progress import progress_bar
from evaluate.ranges import Seed, Threads
from evaluate.statistics import looks

GAMES, MOST_GAMES = 10_000, 1_000_000  # the default numbers of games, without and with ``until``


@dataclass(frozen=True)
class MatchArguments:
    """The match to play, and the files to write."""

    a: AgentName
    """An agent: a name, a name with settings after a colon, or the folder of a run."""
    b: AgentName
    """Its opponent."""
    games: SomeAmount = None
    """Number of games, even: 10,000, or with --until at most 1,000,000. 1 is a game without its mirror image."""
    until: Annotated[str | None, tyro.conf.arg(metavar="PERCENT", help_behavior_hint="")] = None
    """Stop when the win rate's 95 % interval is within this distance, in percentage points, as in ±0.5%."""
    seed: Seed = 0
    """Random seed of the deals."""
    threads: Threads = 2
    """Number of threads."""
    json_file: SomeJson = None
    """Also write the result to this file."""
    record: SomeFile = None
    """Also write every game to this file, card by card, for `replay`."""
    luck_adjusted: bool = False
    """Also report results minus the luck of cards and starters, with narrower intervals, which --until then checks."""
    ray: SomeRay = None
    """Play on the Ray cluster of this address, or with `local` on all cores, instead of threads."""


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
    """Plays, writes and prints; Ctrl-C or an error, such as a full disk, ends it and keeps the finished games.

    Raises:
        ValueError: an argument is not allowed.
        Exception, KeyboardInterrupt: what stopped the match, after reporting the finished games.
    """
    check_outputs(asked.json_file, asked.record)
    half = None if asked.until is None else read_half_width(asked.until)
    games = asked.games
    if games is None:
        games = GAMES if half is None else MOST_GAMES
    first, second = make_agent(asked.a), make_agent(asked.b)
    if games == 1:
        _play_one(first, second, asked)
        return
    started = time.perf_counter()
    parts: list[Games] = []
    stopped: BaseException | None = None
    try:
        with progress_bar() as progress, ExitStack() as opened:
            # The length of a match that stops by itself can be estimated after its first look, and better at each look.
            ends = set(looks(games // 2))
            task = progress.add_task(f"{first.name} against {second.name}", total=games if half is None else None)

            def on_progress(done: int) -> None:
                progress.update(task, advance=done)

            keep = opened.enter_context(games_file(asked.record)) if asked.record is not None else None
            cluster = opened.enter_context(connected(asked.ray)) if asked.ray is not None else None
            playing = play_games(
                first,
                second,
                games,
                asked.seed,
                until=half,
                threads=asked.threads,
                cluster=cluster,
                keep_records=keep is not None,
                measure_luck=asked.luck_adjusted,
                on_progress=on_progress,
            )
            for part in opened.enter_context(closing(playing)):
                if keep is not None:
                    keep(part.records)
                parts.append(replace(part, records=()))
                pairs = sum(len(part.won) for part in parts) // 2
                if half is not None and pairs in ends:
                    progress.update(task, total=games_needed(pairs, reach_of(parts), half, games))
    except (Exception, KeyboardInterrupt) as error:
        if not parts:
            raise
        stopped = error
    result = summarise(first.name, second.name, asked.seed, Games.merged(parts), time.perf_counter() - started)
    try:
        if asked.json_file is not None:
            write_json(asked.json_file, result.to_json())
    finally:
        console.print(match_table(result))
    if half is not None:
        reached = reach_of(parts)
        console.print(f"asked for ±{half:.3%}, reached ±{reached:.3%}" + ("" if reached <= half else ": too few games"))
    if stopped is not None:
        raise stopped


def _play_one(a: Agent, b: Agent, asked: MatchArguments) -> None:
    """Plays one game and prints only who won, without intervals."""
    if asked.until is not None or asked.json_file is not None or asked.ray is not None or asked.luck_adjusted:
        raise ValueError("games=1 has no interval: --until, --json, --ray and --luck-adjusted are not allowed with it")
    played = play_shard(a, b, replace(Shard.of(asked.seed, 0, 1), is_single=True), asked.record is not None)
    if asked.record is not None:
        with games_file(asked.record) as keep:
            keep(played.records)
    winner = int(played.scores[0].argmax())
    console.print(f"{(a, b)[winner].name} wins {played.scores[0, winner]} to {played.scores[0, 1 - winner]}")


def games_needed(pairs: int, reached: float, half: float, most: int) -> int:
    """The estimated number of games until a match stops, at the first look that should be narrow enough.

    Args:
        pairs: the number of pairs so far.
        reached: the distance from the win rate to the end of its interval now.
        half: the requested distance.
        most: the largest number of games.
    """
    needed = pairs * max(1.0, reached / half) ** 2
    return 2 * next((look for look in looks(most // 2) if look >= needed), most // 2)
