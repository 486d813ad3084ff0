"""The equilibrium of whole deals, discards and play together, with its exact distance from one."""

from __future__ import annotations

import time
from typing import Annotated

from rich.table import Table

from crib_env.evaluate.commands.arguments import Folder, SomeJson
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.folder_lock import held
from crib_env.evaluate.progress import progress_bar, say
from crib_env.evaluate.ranges import Range, Threads
from crib_env.hands import N_RANKS
from crib_env.solver.deal.best_response import DealResponses, best_responses
from crib_env.solver.deal.saved import load, save
from crib_env.solver.deal.solver import DealSolver
from crib_env.solver.play_game import PlayGame
from crib_env.tables.deal_values import DealValues

_SAVE_EVERY = 900.0  # seconds; a state is eleven gigabytes


def solve_deal(
    folder: Folder,
    iterations: Annotated[int, Range(1, 10_000)] = 30,
    threads: Threads = 2,
    json_file: SomeJson = None,
) -> None:
    """Solves whole deals for their equilibrium, discards and play together, with its exact distance from one.

    The deals are played at 0-0, for points. A player chooses its discards of every six cards, and plays knowing its
    four cards, the starter and what has been laid. In the play it forgets its own discards. NashConv is what exact best
    responses to both roles, which remember them, gain together in points a deal.

    It needs 14 GB of memory, and 25 GB in the folder. Iterations take half a minute each on two cores, and the
    measurement at the end some minutes.

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
        game = PlayGame(threads=threads)
        solver = DealSolver(game, threads)
        load(solver, folder)
        if solver.iterations:
            say(progress, f"{folder} has {solver.iterations:,} iterations")
        progress.update(task, description="iterations", completed=solver.iterations)
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
        task = progress.add_task("best responses, by starter", total=2 * N_RANKS)
        found = best_responses(game, solver.policy(), threads, lambda done: progress.update(task, advance=done))
    DealValues.of(found).save(folder / "values.npz")
    if json_file is not None:
        write_json(json_file, _as_json(found, solver))
    console.print(_table(found, solver))


def _as_json(found: DealResponses, solver: DealSolver) -> dict[str, object]:
    return {
        "game": "whole deals",
        "nash_conv": found.nash_conv,
        "value_to_dealer_at_least": -found.as_pone.value,
        "value_to_dealer_at_most": found.as_dealer.value,
        "iterations": solver.iterations,
        "seconds": solver.seconds,
    }


def _table(found: DealResponses, solver: DealSolver) -> Table:
    table = Table(title="whole deals, discards and play", show_header=False)
    table.add_row(
        "value to the dealer, points a deal", f"between {-found.as_pone.value:.4f} and {found.as_dealer.value:.4f}"
    )
    table.add_row("NashConv", f"{found.nash_conv:.4f}")
    table.add_row("exploitability", f"{found.nash_conv / 2:.4f}")
    table.add_row("iterations", f"{solver.iterations:,}")
    table.add_row("seconds", f"{solver.seconds:,.0f}")
    return table
