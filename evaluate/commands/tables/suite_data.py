"""The positions of the suite, and what is best in them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from crib_env.evaluate.commands.arguments import File
from crib_env.evaluate.commands.solve_play import PEGGING_GAME
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Threads
from crib_env.evaluate.skill.suite.data import VERSION
from crib_env.evaluate.skill.suite.making import make_data
from crib_env.solver.cfr import PlaySolver, check_solution
from crib_env.solver.play_game import PlayGame


def suite_data(path: File, solution: Annotated[Path, tyro.conf.arg(metavar="FILE")], threads: Threads = 2) -> None:
    """Makes the positions of the suite, with what is best in them; takes some minutes.

    Args:
        path: The file to write; an existing file is replaced.
        solution: The pegging game solved, from `solve-play FILE --nash-conv 0.001`.
        threads: Number of threads; they do not change the result.
    """
    check_outputs(path)
    check_solution(solution, PEGGING_GAME)
    with progress_bar() as progress:
        task = progress.add_task("the public tree", total=None)
        solver = PlaySolver(PlayGame(threads=threads))
        solver.load(solution, PEGGING_GAME)

        def on_progress(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total)

        data = make_data(solver, threads, on_progress)
    data.save(path)
    console.print(f"suite {VERSION}, hash {data.hash}: {path}", soft_wrap=True)
