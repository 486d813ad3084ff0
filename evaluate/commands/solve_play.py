"""The equilibrium of the play, with its exact distance from one."""

from __future__ import annotations

import math
import time
from typing import Annotated

import tyro
from rich.table import Table

from crib_env.cards import RANKS
from crib_env.solver.cfr import PlaySolver
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from evaluate.commands.arguments import File, SomeJson, check_positive
from evaluate.console import console
from evaluate.files import check_outputs, write_json
from evaluate.progress import progress_bar, say

SomeRank = Annotated[str | None, tyro.conf.arg(metavar="RANK", help_behavior_hint="")]

_SAVE_EVERY = 120.0  # seconds


def solve_play(
    path: File,
    starter: SomeRank = None,
    nash_conv: float = 0.01,
    threads: int = 2,
    json_file: SomeJson = None,
) -> None:
    """Solves the play of a deal: eight cards dealt at random, pone leads, points as they fall.

    Suits have no part in it. NashConv is what exact best responses to both roles earn together, in points a deal; it is
    0 in equilibrium, and nobody can win more than half of it, on average over both roles, from the policy that is
    saved.

    Args:
        path: The file of the solution, about 900 MB. One that is there is continued, also after a kill.
        starter: Rank of a starter that both players see (A, 2 to 9, T, J, Q or K); by default there is none.
        nash_conv: Ends when NashConv is at most this many points a deal.
        threads: Number of threads; they do not change the result.
        json_file: Also write the result to this file, as JSON.
    """
    check_outputs(path, json_file)
    check_positive(threads=threads)
    if not nash_conv > 0:
        raise ValueError(f"nash_conv={nash_conv} is not allowed: give a number above 0")
    start, about = start_of_play(), "the pegging game"
    if starter is not None:
        rank = RANKS.find(starter.upper())
        if len(starter) != 1 or rank < 0:
            raise ValueError(f"starter={starter} is no rank: give one of {' '.join(RANKS)}")
        start = start_of_play(starter=rank)
        about = f"the play with the starter {RANKS[rank]}"
    with progress_bar() as progress:
        task = progress.add_task("the public tree", total=None)
        game = PlayGame(start=start, threads=threads)
        solver = PlaySolver(game)
        if path.exists():
            solver.load(path, about)
            say(progress, f"{path} has {solver.iterations:,} iterations")
        progress.update(task, description="iterations", completed=solver.iterations)
        saved = time.monotonic()
        while True:
            if solver.iterations and _is_measured(solver.iterations):
                responses = solver.best_responses()
                say(
                    progress,
                    f"{solver.iterations:,} iterations, {solver.seconds:.0f} s: NashConv {responses.nash_conv:.5f}",
                )
                if responses.nash_conv <= nash_conv:
                    break
                if time.monotonic() - saved > _SAVE_EVERY:
                    solver.save(path, about)
                    saved = time.monotonic()
            solver.iterate()
            progress.update(task, completed=solver.iterations)
        solver.save(path, about)
        value = -game.expected(solver.average)
    if json_file is not None:
        write_json(
            json_file,
            {
                "game": about,
                "value_to_dealer": value,
                "nash_conv": responses.nash_conv,
                "best_response_as_pone": responses.as_pone,
                "best_response_as_dealer": responses.as_dealer,
                "iterations": solver.iterations,
                "seconds": solver.seconds,
            },
        )
    table = Table(title=f"{about}: {path}", show_header=False)
    table.add_row("value to the dealer, points a deal", f"{value:.4f}")
    table.add_row("it lies between", f"{-responses.as_pone:.4f} and {responses.as_dealer:.4f}")
    table.add_row("NashConv", f"{responses.nash_conv:.5f}")
    table.add_row("iterations", f"{solver.iterations:,}")
    table.add_row("seconds", f"{solver.seconds:,.0f}")
    console.print(table)


def _is_measured(iterations: int) -> bool:
    """At 1, 2, 4, 6, 8, 12, 16, 24, ... iterations: a measurement takes as long as one of them."""
    power = 2 ** math.floor(math.log2(iterations))
    return iterations in (power, power * 3 // 2)
