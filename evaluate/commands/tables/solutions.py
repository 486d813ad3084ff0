"""Tables that are read from solutions of `solve play`: leads, the blueprint of `equilibrium`, the suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro

from crib_env.evaluate.commands.arguments import File
from crib_env.evaluate.commands.solve.play import PEGGING_GAME
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.progress import advancing, progress_bar
from crib_env.evaluate.ranges import Threads
from crib_env.evaluate.skill.suite import discards, endgames, play
from crib_env.evaluate.skill.suite.task import hash_of
from crib_env.evaluate.tables.blueprint import make_blueprint
from crib_env.files.checked_file import SavedArrays
from crib_env.hands import N_RANKS
from crib_env.solver.cfr import PlaySolver, check_solution
from crib_env.solver.deal.saved import newest
from crib_env.solver.play_game import PlayGame
from crib_env.tables.leads import leads_of


def leads(
    solution: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SOLUTION")], path: File, threads: Threads = 2
) -> None:
    """Reads leads and answers, their frequencies and costs, from what `solve play` has found.

    Args:
        solution: A file of `solve play`, without a starter.
        path: The file to write; an existing file is replaced.
        threads: Number of threads.
    """
    check_outputs(path)
    check_solution(solution, PEGGING_GAME)
    with progress_bar() as progress:
        progress.add_task("the public tree", total=None)
        solver = PlaySolver(PlayGame(threads=threads))
        solver.load(solution, PEGGING_GAME)
        found = leads_of(solver.game, solver.average)
    found.save(path)
    console.print(f"{path}: {path.stat().st_size:,} bytes, of a solution with NashConv {float(found.nash_conv):.5f}")


def blueprint(
    path: File,
    pegging: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PEGGING")],
    deals: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DEALS")],
) -> None:
    """Makes the blueprint that `equilibrium` plays by: the discards and the first three cards of solved deals.

    Args:
        path: The file of the blueprint; an existing file is replaced.
        pegging: The file of `solve play`, for the pegging game.
        deals: The folder of `solve deal`.
    """
    check_outputs(path)
    check_solution(pegging, PEGGING_GAME)
    state = newest(deals)
    if state is None:
        raise ValueError(f"{deals} holds no solution: give the folder of solve deal")
    with advancing("solutions", N_RANKS + 1) as on_progress:
        made = make_blueprint((pegging, PEGGING_GAME), state, on_progress)
    made.save(path)
    console.print(f"{path}: {path.stat().st_size:,} bytes")


def suite(
    task: Annotated[Literal["discards", "endgames", "play"], tyro.conf.Positional],
    path: File,
    solution: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None,
    threads: Threads = 2,
) -> None:
    """Makes the positions of a task of the suite, with what is best in them; takes some minutes.

    Args:
        task: Which task.
        path: The file to write; an existing file is replaced.
        solution: For `play` the pegging game solved, from `solve play FILE --nash-conv 0.001`.
        threads: Number of threads; they do not change the result.
    """
    check_outputs(path)
    if (solution is None) == (task == "play"):
        raise ValueError("--solution is for `play`, which needs it")
    if solution is not None:
        check_solution(solution, PEGGING_GAME)
    with progress_bar() as progress:
        bar = progress.add_task(task, total=None)

        def on_progress(done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total)

        made: SavedArrays
        if task == "discards":
            made = discards.make(threads, on_progress)
        elif task == "endgames":
            made = endgames.make(on_progress)
        else:
            assert solution is not None
            solver = PlaySolver(PlayGame(threads=threads))
            solver.load(solution, PEGGING_GAME)
            made = play.make(solver, on_progress)
    made.save(path)
    console.print(f"hash {hash_of(made)}: {path}", soft_wrap=True)
