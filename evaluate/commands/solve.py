"""The equilibrium of the play, or of whole deals, with its exact distance from one."""

from __future__ import annotations

import math
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from rich.progress import Progress

from crib_env.agents.belief import simple_policy
from crib_env.engine import ROLES
from crib_env.evaluate.command_line import File, Folder, SomeJson
from crib_env.evaluate.console import console, progress_bar, say, table_of
from crib_env.evaluate.files import check_outputs, held, write_json
from crib_env.hands import N_RANKS
from crib_env.solver.cfr import PlaySolver, Population, check_solution
from crib_env.solver.deal.best_response import DealPolicy, best_responses
from crib_env.solver.deal.kinds import N_CHOICES
from crib_env.solver.deal.solver import (
    GROUPS,
    DealSolver,
    Groups,
    group_discards,
    load,
    load_discards,
    load_recall,
    newest,
    recall_file,
    save,
    solve_again,
)
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.tables.shipped import DealValues
from crib_env.values import Positive, Range, Share, Threads

PEGGING_GAME = "the pegging game"
_SMALLER = {2: " with two cards each", 3: " with three cards each", 4: ""}
_SAVE_PLAY, _SAVE_DEALS = 120.0, 900.0  # seconds; a state of whole deals is eleven gigabytes


def solve_play(
    path: File,
    cards: Literal[2, 3, 4] = 4,
    nash_conv: Positive = 0.01,
    simple_players: Share = 0.0,
    threads: Threads = 2,
    json_file: SomeJson = None,
) -> None:
    """Solves the play for its equilibrium, to a stated distance from it; where wanted, among simple players.

    Pone leads, and points count as they fall. Suits do not matter. NashConv is what exact best responses to both roles
    gain together, in points a deal. It is 0 in equilibrium. No opponent can win more than half of it from the saved
    policy, on average over both roles.

    With --simple-players, any opponent may be one of a simple kind: most of these look one card ahead, some take the
    most points at once. The equilibrium of such a population wins more from weak players. An opponent who knows it can
    win more from it too, and the table shows how much (exploitability).

    Args:
        path: The file of the solution, about 900 MB with four cards. An existing file is continued, also after a kill.
        cards: Cards of each player. With two or three the pegging game is solved in seconds.
        nash_conv: Ends when NashConv is at most this many points a deal.
        simple_players: Share of simple players among the opponents, at least 0 and below 1.
        threads: Number of threads; they do not change the result.
        json_file: Also write the result to this file, as JSON.
    """
    check_outputs(path, json_file)
    if simple_players == 1:
        raise ValueError(f"simple_players={simple_players} is not allowed: give at least 0 and less than 1")
    about = PEGGING_GAME + _SMALLER[cards]
    if simple_players:
        about = f"{about}, {100 * simple_players:g} % simple players"
    if path.exists():
        check_solution(path, about)
    with held(path), progress_bar() as progress:
        task = progress.add_task("the public tree", total=None)
        start = start_of_play(cards)
        game = PlayGame(start=start, threads=threads)
        population = Population(game, simple_policy(game, start), simple_players) if simple_players else None
        solver = PlaySolver(game, population)
        if path.exists():
            solver.load(path, about)
            say(progress, f"{path} has {solver.iterations:,} iterations")
        progress.update(task, description="iterations", completed=solver.iterations)
        distance = _solve_play(solver, path, about, nash_conv, progress)
        value, responses = -game.expected(solver.average), solver.best_responses()
        progress.remove_task(task)
    _report(
        {
            "game": about,
            "value_to_dealer": value,
            "value_at_least": -responses.as_pone,
            "value_at_most": responses.as_dealer,
            "nash_conv": distance,
            "exploitability": responses.nash_conv / 2,
            "iterations": solver.iterations,
            "seconds": solver.seconds,
        },
        json_file,
    )


def _solve_play(solver: PlaySolver, path: Path, about: str, aim: float, progress: Progress) -> float:
    """Iterates to a NashConv of at most ``aim`` and returns it. The file is written every few minutes and at the end.

    A measurement takes as long as an iteration: it comes after 1, 2, 4, 6, 8, 12, 16, 24, ... of them.
    """
    (task,) = progress.task_ids
    saved, is_new = time.monotonic(), True
    while True:
        power = 2 ** math.floor(math.log2(solver.iterations or 1))
        if solver.iterations and (is_new or solver.iterations in (power, power * 3 // 2)):
            distance = solver.nash_conv()
            said = f"{about}: {solver.iterations:,} iterations, {solver.seconds:.0f} s: NashConv {distance:.5f}"
            say(progress, said)
            if distance <= aim:
                break
            if time.monotonic() - saved > _SAVE_PLAY:
                solver.save(path, about)
                saved = time.monotonic()
        solver.iterate()
        is_new = False
        progress.update(task, completed=solver.iterations)
    if not is_new:
        solver.save(path, about)
    return distance


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
    iterations_again: Annotated[int, Range(1, 10_000)] = 12,
    threads: Threads = 2,
    json_file: SomeJson = None,
) -> None:
    """Solves whole deals for their equilibrium, discards and play together, with its exact distance from one.

    The deals are played at 0-0, for points. A player chooses its discards of every six cards, and plays knowing its
    four cards, the starter and what has been laid. At first it forgets its own discards in the play. Then the play is
    solved again for players who remember to which of two groups their discards belong. NashConv is what exact best
    responses to both roles, which remember their discards, gain together in points a deal.

    It needs 15 GB of memory, and 30 GB in the folder. An iteration takes a minute or two, also one of the play again
    beside all starters, and each of the two measurements some minutes.

    Args:
        folder: The folder of the solution. An existing one is continued, also after a kill. What discards are worth
            against it is written there too, `values.npz`.
        iterations: Ends the first solution when so many are done.
        iterations_again: So many follow beside each starter.
        threads: Number of threads; they do not change the result.
        json_file: Also write the result to this file, as JSON.
    """
    check_outputs(json_file)
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder), progress_bar() as progress:
        task = progress.add_task("the public tree", total=None)
        game = PlayGame(threads=threads)
        progress.remove_task(task)
        state, first = _solve_deals(game, folder, iterations, threads, progress)
        discards = load_discards(state)
        policy = DealPolicy.of(
            [average / average.sum(axis=1, keepdims=True) for average in discards["average"]],
            lambda starter, role: load_recall(recall_file(state, iterations_again, starter), game.extent.slots),
            first.groups,
        )
        task = progress.add_task("iterations of the play again", total=N_RANKS * iterations_again)
        solve_again(game, state, policy, iterations_again, threads, lambda done: progress.update(task, advance=done))
        progress.remove_task(task)
        task = progress.add_task("best responses, by starter", total=2 * N_RANKS)
        found = best_responses(game, policy, threads, lambda done: progress.update(task, advance=done))
    DealValues.of(found).save(folder / "values.npz")
    _report(
        {
            "game": "whole deals, discards and play",
            "value_to_dealer_at_least": -found.as_pone.value,
            "value_to_dealer_at_most": found.as_dealer.value,
            "nash_conv": found.nash_conv,
            "exploitability": found.nash_conv / 2,
            "nash_conv_if_discards_are_forgotten": float(first.responses.sum()),
            "iterations": int(discards["iterations"]),
            "iterations_again": iterations_again,
        },
        json_file,
    )


def _solve_deals(
    game: PlayGame, folder: Path, iterations: int, threads: int, progress: Progress
) -> tuple[Path, Groups]:
    """The newest state, which is that of so many iterations or more, with its groups of discards."""
    solver = DealSolver(game, threads)
    load(solver, folder)
    if solver.iterations:
        say(progress, f"{folder} has {solver.iterations:,} iterations")
    task = progress.add_task("iterations", total=iterations, completed=solver.iterations)
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
    progress.remove_task(task)
    state = newest(folder)
    assert state is not None
    if not (state / GROUPS).exists():
        policy, groups = solver.policy(), np.zeros((len(ROLES), N_RANKS, N_CHOICES), np.int8)
        note = partial(group_discards, policy.discards, groups)
        task = progress.add_task("best responses, by starter", total=2 * N_RANKS)
        best = best_responses(game, policy, threads, lambda done: progress.update(task, advance=done), note)
        progress.remove_task(task)
        Groups(groups, np.array([response.value for response in best])).save(state / GROUPS)
    return state, Groups.load(state / GROUPS)
