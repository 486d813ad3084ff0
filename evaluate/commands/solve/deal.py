"""The equilibrium of whole deals, discards and play together, with its exact distance from one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
from rich.progress import Progress
from rich.table import Table

from crib_env.evaluate.command_line import Folder, SomeJson
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.folder_lock import held
from crib_env.evaluate.progress import progress_bar, say
from crib_env.evaluate.ranges import Range, Threads
from crib_env.hands import N_RANKS
from crib_env.solver.deal.best_response import DealPolicy, DealResponses, best_responses
from crib_env.solver.deal.groups import FirstCards
from crib_env.solver.deal.recall import solve_again
from crib_env.solver.deal.saved import (
    Groups,
    load,
    load_discards,
    load_groups,
    load_recall,
    newest,
    recall_file,
    save,
    save_groups,
)
from crib_env.solver.deal.solver import DealSolver
from crib_env.solver.play_game import PlayGame
from crib_env.tables.shipped import DealValues

_SAVE_EVERY = 900.0  # seconds; a state is eleven gigabytes


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
        state, first = _solve(game, folder, iterations, threads, progress)
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
    done = int(discards["iterations"])
    if json_file is not None:
        write_json(json_file, _as_json(found, first, done, iterations_again))
    console.print(_table(found, first, done, iterations_again))


def _solve(game: PlayGame, folder: Path, iterations: int, threads: int, progress: Progress) -> tuple[Path, Groups]:
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
        if time.monotonic() - saved > _SAVE_EVERY:
            save(solver, folder)
            saved, is_new = time.monotonic(), False
    if is_new:
        save(solver, folder)
    progress.remove_task(task)
    state = newest(folder)
    assert state is not None
    found = load_groups(state)
    if found is None:
        policy = solver.policy()
        first_cards = FirstCards(policy.discards)
        task = progress.add_task("best responses, by starter", total=2 * N_RANKS)
        best = best_responses(game, policy, threads, lambda done: progress.update(task, advance=done), first_cards.note)
        progress.remove_task(task)
        found = Groups(first_cards.groups, np.array([response.value for response in best]))
        save_groups(state, found)
    return state, found


def _as_json(found: DealResponses, first: Groups, iterations: int, iterations_again: int) -> dict[str, object]:
    return {
        "game": "whole deals",
        "nash_conv": found.nash_conv,
        "value_to_dealer_at_least": -found.as_pone.value,
        "value_to_dealer_at_most": found.as_dealer.value,
        "iterations": iterations,
        "iterations_again": iterations_again,
        "nash_conv_if_discards_are_forgotten": float(first.responses.sum()),
    }


def _table(found: DealResponses, first: Groups, iterations: int, iterations_again: int) -> Table:
    table = Table(title="whole deals, discards and play", show_header=False)
    table.add_row(
        "value to the dealer, points a deal", f"between {-found.as_pone.value:.4f} and {found.as_dealer.value:.4f}"
    )
    table.add_row("NashConv", f"{found.nash_conv:.4f}")
    table.add_row("exploitability", f"{found.nash_conv / 2:.4f}")
    table.add_row("NashConv, if its discards are forgotten", f"{first.responses.sum():.4f}")
    table.add_row("iterations", f"{iterations:,}")
    table.add_row("iterations of the play again", f"{iterations_again:,}")
    return table
