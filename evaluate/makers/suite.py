"""Makes the positions of a task of the suite, with what is best in them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro

from crib_env.evaluate.command_line import File
from crib_env.evaluate.commands.solve import PEGGING_GAME
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.evaluate.progress import progress_bar
from crib_env.evaluate.ranges import Threads
from crib_env.evaluate.skill.suite import discards, endgames, play
from crib_env.evaluate.skill.suite.task import hash_of
from crib_env.files.checked_file import SavedArrays
from crib_env.solver.cfr import PlaySolver, check_solution
from crib_env.solver.play_game import PlayGame


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


if __name__ == "__main__":
    run(suite)
