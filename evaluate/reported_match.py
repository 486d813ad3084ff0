"""A match as a command: with a progress bar, a table, and the files that are asked for."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from agents import make_agent
from evaluate.console import console, progress_bar
from evaluate.files import whole_file, write_json
from evaluate.match import play_games, summarise
from evaluate.match_table import match_table
from evaluate.mirrored import Games, mean_of_pairs
from evaluate.on_ray import connected
from evaluate.statistics import reach

GAMES, MOST_GAMES = 10_000, 1_000_000  # without and with ``until``, if nothing is said


def read_half_width(text: str) -> float:
    """A half width in points of percent as a share: ``"0.5"``, ``"0.5%"`` and ``"±0.5%"`` are 0.005.

    Raises:
        ValueError: it is none, or not between 0 and 50.
    """
    try:
        share = float(text.strip().removeprefix("±").removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not 0 < share < 0.5:
        raise ValueError(f"until={text!r} is not allowed: give points of percent between 0 and 50, as in ±0.5%")
    return share


def play_and_report(
    a: str,
    b: str,
    games: int | None,
    until: str | None,
    seed: int,
    threads: int,
    json_file: Path | None,
    record: Path | None,
    ray: str | None = None,
) -> None:
    """Plays and prints; Ctrl-C reports the games that are finished, and then stops.

    Args:
        a, b: the players' names.
        games: how many, or with ``until`` at most.
        until: how far its interval may reach from the win rate for the match to stop, as text.
        seed: of the deals.
        threads: how many work side by side.
        json_file: also write the result to this file.
        record: also write the games to this file, card by card.
        ray: the address of a cluster to play on, in place of threads, see :func:`evaluate.on_ray.connected`.

    Raises:
        ValueError: an argument is not allowed.
        KeyboardInterrupt: the match was stopped, and is reported as far as it went.
    """
    half = None if until is None else read_half_width(until)
    if games is None:
        games = GAMES if half is None else MOST_GAMES
    first, second = make_agent(a), make_agent(b)
    started = time.perf_counter()
    parts: list[Games] = []
    stopped: KeyboardInterrupt | None = None
    with progress_bar() as progress, ExitStack() as opened:
        task = progress.add_task("compiling, some seconds the first time", total=games)

        def on_progress(done: int) -> None:
            progress.update(task, advance=done, description=f"{first.name} against {second.name}")

        try:
            lines = opened.enter_context(whole_file(record)) if record is not None else None
            cluster = opened.enter_context(connected(ray)) if ray is not None else None
            for part in play_games(
                first,
                second,
                games,
                seed,
                until=half,
                threads=threads,
                cluster=cluster,
                keep_records=lines is not None,
                on_progress=on_progress,
            ):
                if lines is not None:
                    lines.writelines(game.to_line() + "\n" for game in part.records)
                parts.append(replace(part, records=()))
                if half is not None:
                    progress.update(task, total=_games_needed(parts, half, games))
        except KeyboardInterrupt as interrupt:
            if not parts:
                raise
            stopped = interrupt
    result = summarise(first.name, second.name, seed, Games.merged(parts), time.perf_counter() - started)
    console.print(match_table(result))
    if half is not None:
        reached = reach(_pairs_won(parts))
        console.print(f"asked for ±{half:.3%}, reached ±{reached:.3%}" + ("" if reached <= half else ": too few games"))
    if json_file is not None:
        write_json(json_file, result.to_json())
    if stopped is not None:
        raise stopped


def _pairs_won(parts: list[Games]) -> np.ndarray:
    return np.concatenate([mean_of_pairs(part.won) for part in parts])


def _games_needed(parts: list[Games], half: float, most: int) -> int:
    """About how many games it takes to know the win rate so closely, by the spread so far."""
    pairs = _pairs_won(parts)
    return min(most, round(2 * len(pairs) * max(1.0, reach(pairs) / half) ** 2))
