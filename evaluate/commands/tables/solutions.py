"""Tables that are read from solutions of `solve-play`: leads, the blueprint of `equilibrium`, the suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro

from crib_env.agents.equilibrium.blueprint import NO_STARTER, Blueprint, FirstCards, first_cards
from crib_env.engine import ROLES
from crib_env.evaluate.commands.arguments import File
from crib_env.evaluate.commands.solve_play import PEGGING_GAME, after_discards
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Share, Threads
from crib_env.evaluate.skill.suite import discards, endgames, play
from crib_env.evaluate.skill.suite.task import hash_of
from crib_env.files.checked_file import SavedArrays
from crib_env.hands import N_RANKS, ORDERINGS
from crib_env.solver.cfr import PlaySolver, check_solution, load_solution
from crib_env.solver.play_game import SPLIT, PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.solver.tree import build_tree
from crib_env.tables.leads import leads_of
from crib_env.tables.prior import prior_of_discards


def leads(
    solution: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SOLUTION")], path: File, threads: Threads = 2
) -> None:
    """Reads leads and answers, their frequencies and costs, from what `solve-play` has found.

    Args:
        solution: A file of `solve-play`, without a starter.
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
    discards_folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(name="discards", metavar="DISCARDS")],
    simple_players: Share = 0.0,
) -> None:
    """Keeps the first three cards of solved plays, which `equilibrium` plays by.

    Args:
        path: The file of the blueprint; an existing file is replaced.
        pegging: The file of `solve-play`, for the pegging game.
        discards_folder: The folder of `solve-play --prior discards`, with a file for each of the thirteen starters.
        simple_players: Share of simple players in these thirteen.
    """
    check_outputs(path)
    files = [after_discards(discards_folder, starter, simple_players) for starter in range(NO_STARTER)]
    files.append((pegging, PEGGING_GAME))
    for file, about in files:
        check_solution(file, about)
    found: list[FirstCards] = []
    weights = []
    with progress_bar() as progress:
        task = progress.add_task("solutions", total=N_RANKS + 1)
        for starter, (file, about) in enumerate(files):
            is_pegging = starter == NO_STARTER
            tree, extent, _ = build_tree(start_of_play(starter=None if is_pegging else starter), SPLIT)
            found.append(first_cards(tree, load_solution(file, about, extent.slots)["average"]))
            weights.append([ORDERINGS[4]] * len(ROLES) if is_pegging else prior_of_discards(starter))
            progress.update(task, advance=1)
    Blueprint(np.array(weights, np.float32), *(np.stack(arrays) for arrays in zip(*found))).save(path)
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
        solution: For `play` the pegging game solved, from `solve-play FILE --nash-conv 0.001`.
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
