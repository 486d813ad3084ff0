"""The table behind `leads`: the first card of each player, read from a solution of the pegging game."""

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
from crib_env.solver.cfr import PlaySolver, check_solution
from crib_env.solver.play_game import PlayGame
from crib_env.tables.leads import leads_of


def lead_table(
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
        leads = leads_of(solver.game, solver.average)
    leads.save(path)
    console.print(f"{path}: {path.stat().st_size:,} bytes, of a solution with NashConv {float(leads.nash_conv):.5f}")
