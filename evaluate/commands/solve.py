"""The equilibrium of the play, or of whole deals, with its exact distance from one."""

from __future__ import annotations

import math
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from rich.progress import Progress

from crib_env.evaluate.command_line import File, Folder, SomeJson
from crib_env.evaluate.console import console, progress_bar, say, table_of
from crib_env.evaluate.files import check_outputs, held, write_json
from crib_env.hands import N_RANKS
from crib_env.solver.cfr import PlaySolver, check_solution
from crib_env.solver.deal.best_response import best_responses
from crib_env.solver.deal.solver import DealSolver, load, save
from crib_env.solver.play_game import BestResponses, PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.tables.shipped import DealValues
from crib_env.values import Positive, Range, Threads

PEGGING_GAME = "the pegging game"
_SMALLER = {2: " with two cards each", 3: " with three cards each", 4: ""}
_SAVE_PLAY, _SAVE_DEALS = 120.0, 900.0  # seconds; a state of whole deals is eleven gigabytes


def solve_play(
    path: File,
    cards: Literal[2, 3, 4] = 4,
    nash_conv: Positive = 0.01,
    threads: Threads = 2,
    json_file: SomeJson = None,
) -> None:
    """Solves the play for its equilibrium, to a stated distance from it.

    Pone leads, and points count as they fall. Suits do not matter. NashConv is what exact best responses to both roles
    gain together, in points a deal. It is 0 in equilibrium. No opponent can win more than half of it from the saved
    policy, on average over both roles.

    Args:
        path: The file of the solution, about 900 MB with four cards. An existing file is continued, also after a kill.
        cards: Cards of each player. With two or three the pegging game is solved in seconds.
        nash_conv: Ends when NashConv is at most this many points a deal.
        threads: Number of threads; they do not change the result.
        json_file: Also write the result to this file, as JSON.
    """
    check_outputs(path, json_file)
    about = PEGGING_GAME + _SMALLER[cards]
    if path.exists():
        check_solution(path, about)
    with held(path), progress_bar() as progress:
        task = progress.add_task("the public tree", total=None)
        game = PlayGame(start=start_of_play(cards), threads=threads)
        solver = PlaySolver(game)
        if path.exists():
            solver.load(path, about)
            say(progress, f"{path} has {solver.iterations:,} iterations")
        progress.update(task, description="iterations", completed=solver.iterations)
        responses = _solve_play(solver, path, about, nash_conv, progress)
        value = -game.expected(solver.average)
        progress.remove_task(task)
    _report(
        {
            "game": about,
            "value_to_dealer": value,
            "value_at_least": -responses.as_pone,
            "value_at_most": responses.as_dealer,
            "nash_conv": responses.nash_conv,
            "exploitability": responses.nash_conv / 2,
            "iterations": solver.iterations,
            "seconds": solver.seconds,
        },
        json_file,
    )


def _solve_play(solver: PlaySolver, path: Path, about: str, aim: float, progress: Progress) -> BestResponses:
    """Iterates to a NashConv of at most ``aim``, and returns the best responses then. The file is written every few
    minutes and at the end.

    A measurement takes as long as an iteration: it comes after 1, 2, 4, 6, 8, 12, 16, 24, ... of them.
    """
    (task,) = progress.task_ids
    saved, is_new = time.monotonic(), True
    while True:
        power = 2 ** math.floor(math.log2(solver.iterations or 1))
        if solver.iterations and (is_new or solver.iterations in (power, power * 3 // 2)):
            found = solver.best_responses()
            done = f"{about}: {solver.iterations:,} iterations, {solver.seconds:.0f} s"
            say(progress, f"{done}: NashConv {found.nash_conv:.5f}")
            if found.nash_conv <= aim:
                break
            if time.monotonic() - saved > _SAVE_PLAY:
                solver.save(path, about)
                saved = time.monotonic()
        solver.iterate()
        is_new = False
        progress.update(task, completed=solver.iterations)
    if not is_new:
        solver.save(path, about)
    return found


def _report(found: dict[str, Any], json_file: Path | None) -> None:
    """Writes and prints what was found, in points a deal."""
    if json_file is not None:
        write_json(json_file, found)
    rows = (
        (name.replace("_", " "), f"{one:,.5f}" if isinstance(one, float) else f"{one}") for name, one in found.items()
    )
    console.print(table_of("", ("points a deal", ""), rows))


def solve_deal(
    folder: Folder,
    iterations: Annotated[int, Range(1, 10_000)] = 30,
    threads: Threads = 2,
    json_file: SomeJson = None,
) -> None:
    """Solves whole deals for their equilibrium, discards and play together, with its exact distance from one.

    The deals are played at 0-0, for points. A player chooses its discards of every six cards, and plays knowing its
    four cards, the starter and what has been laid; its own discards it forgets in the play. NashConv is what exact best
    responses to both roles, which remember their discards, gain together in points a deal.

    It needs 15 GB of memory, and 24 GB in the folder. An iteration takes a minute or two, and the measurement some
    minutes.

    Args:
        folder: The folder of the solution. An existing one is continued, also after a kill. What discards are worth
            against it is written there too, `values.npz`.
        iterations: Ends when so many are done.
        threads: Number of threads; they do not change the result.
        json_file: Also write the result to this file, as JSON.
    """
    check_outputs(json_file)
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder), progress_bar() as progress:
        task = progress.add_task("the public tree", total=None)
        solver = DealSolver(PlayGame(threads=threads), threads)
        load(solver, folder)
        if solver.iterations:
            say(progress, f"{folder} has {solver.iterations:,} iterations")
        progress.update(task, description="iterations", total=iterations, completed=solver.iterations)
        saved, is_new = time.monotonic(), False
        while solver.iterations < iterations:
            solver.iterate()
            is_new = True
            progress.update(task, completed=solver.iterations)
            if time.monotonic() - saved > _SAVE_DEALS:
                save(solver, folder)
                saved, is_new = time.monotonic(), False
        if is_new:
            save(solver, folder)
        task = progress.add_task("best responses, by starter", total=2 * N_RANKS)
        on_progress = partial(progress.update, task)
        found = best_responses(solver.game, solver.policy(), threads, lambda done: on_progress(advance=done))
    # to a thousandth of a point, which keeps it small
    cribs, play = (np.round([getattr(one, of) for one in found], 3).astype(np.float32) for of in ("cribs", "play"))
    DealValues(cribs, play, np.array([one.value for one in found])).save(folder / "values.npz")
    _report(
        {
            "game": "whole deals, discards and play",
            "value_to_dealer_at_least": -found.as_pone.value,
            "value_to_dealer_at_most": found.as_dealer.value,
            "nash_conv": found.nash_conv,
            "exploitability": found.nash_conv / 2,
            "iterations": solver.iterations,
        },
        json_file,
    )
