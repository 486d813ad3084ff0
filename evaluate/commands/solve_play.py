"""The equilibrium of the play, with its exact distance from one."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
import tyro
from rich.progress import Progress
from rich.table import Table

from crib_env.cards import RANKS
from crib_env.solver.cfr import PlaySolver
from crib_env.solver.play_game import BestResponses, PlayGame
from crib_env.solver.prior import prior_of_discards
from crib_env.solver.public_state import start_of_play
from evaluate.commands.arguments import File, SomeJson, check_positive
from evaluate.console import console
from evaluate.files import check_outputs, write_json
from evaluate.progress import progress_bar, say

SomeRank = Annotated[str | None, tyro.conf.arg(metavar="RANK", help_behavior_hint="")]

_SAVE_EVERY = 120.0  # seconds
PEGGING_GAME = "the pegging game"


def after_discards(folder: Path, starter: int) -> tuple[Path, str]:
    """The file of a starter's solution with --prior discards, and which game it is."""
    return folder / f"{RANKS[starter]}.npz", f"the play after discards with the starter {RANKS[starter]}"


class _Solved(NamedTuple):
    """A solution: its value, its distance from equilibrium and its cost."""

    game: str
    value_to_dealer: float
    """Net points a deal."""
    responses: BestResponses
    iterations: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        return {
            "game": self.game,
            "value_to_dealer": self.value_to_dealer,
            "nash_conv": self.responses.nash_conv,
            "best_response_as_pone": self.responses.as_pone,
            "best_response_as_dealer": self.responses.as_dealer,
            "iterations": self.iterations,
            "seconds": self.seconds,
        }


def solve_play(
    path: File,
    prior: Literal["deal", "discards"] = "deal",
    starter: SomeRank = None,
    nash_conv: float = 0.01,
    threads: int = 2,
    json_file: SomeJson = None,
) -> None:
    """Solves the play of a deal: pone leads, points as they fall.

    Suits do not matter. NashConv is what exact best responses to both roles earn together, in points a deal. It is 0 in
    equilibrium. No opponent can win more than half of it from the saved policy, on average over both roles.

    Args:
        path: The file of the solution, about 900 MB. An existing file is continued, also after a kill.
            With --prior discards, a folder with one file for each starter.
        prior: The hands: eight cards dealt at random, or of six cards each the four that are worth most.
        starter: Rank of a starter that both players see (A, 2 to 9, T, J, Q or K). By default there is none; with
            --prior discards, all thirteen are solved one after the other.
        nash_conv: Ends when NashConv is at most this many points a deal.
        threads: Number of threads; they do not change the result.
        json_file: Also write the result to this file, as JSON.
    """
    check_outputs(path if prior == "deal" else None, json_file)
    check_positive(threads=threads)
    if not nash_conv > 0:
        raise ValueError(f"nash_conv={nash_conv} is not allowed: give a number above 0")
    rank = None if starter is None else RANKS.find(starter.upper())
    if starter is not None and (len(starter) != 1 or rank == -1):
        raise ValueError(f"starter={starter} is not a rank: give one of {' '.join(RANKS)}")
    with progress_bar() as progress:
        if prior == "deal":
            about = PEGGING_GAME if rank is None else f"the play with the starter {RANKS[rank]}"
            found = [_solve(path, about, start_of_play(starter=rank), None, nash_conv, threads, progress)]
        else:
            if path.exists() and not path.is_dir():
                raise ValueError(f"{path} is a file: with --prior discards, give a folder")
            path.mkdir(parents=True, exist_ok=True)
            found = []
            for each in range(len(RANKS)) if rank is None else [rank]:
                file, about = after_discards(path, each)
                held = prior_of_discards(each)
                found.append(_solve(file, about, start_of_play(starter=each), held, nash_conv, threads, progress))
    if json_file is not None:
        means = {"starters": [solved.as_json() for solved in found]} if prior == "discards" else {}
        write_json(json_file, _over_starters(found).as_json() | means)
    for solved in found:
        console.print(_table(solved, path))
    if len(found) > 1:
        console.print(_table(_over_starters(found), path))


def _over_starters(found: list[_Solved]) -> _Solved:
    """The mean over the starters, which are all cut equally often."""
    if len(found) == 1:
        return found[0]
    responses = BestResponses(*np.mean([solved.responses for solved in found], axis=0).tolist())
    value = float(np.mean([solved.value_to_dealer for solved in found]))
    iterations, seconds = (sum(numbers) for numbers in zip(*(solved[3:] for solved in found)))
    return _Solved("the play after discards, all starters", value, responses, iterations, seconds)


def _solve(
    path: Path,
    about: str,
    start: np.ndarray,
    prior: tuple[np.ndarray, np.ndarray] | None,
    nash_conv: float,
    threads: int,
    progress: Progress,
) -> _Solved:
    """Solves one game, or continues it. The file is written every few minutes and at the end."""
    task = progress.add_task("the public tree", total=None)
    game = PlayGame(prior, start, threads)
    solver = PlaySolver(game)
    if path.exists():
        solver.load(path, about)
        say(progress, f"{path} has {solver.iterations:,} iterations")
    progress.update(task, description="iterations", completed=solver.iterations)
    saved, is_new = time.monotonic(), True
    while True:
        if solver.iterations and (is_new or _is_measured(solver.iterations)):
            responses = solver.best_responses()
            say(
                progress,
                f"{about}: {solver.iterations:,} iterations, {solver.seconds:.0f} s: "
                f"NashConv {responses.nash_conv:.5f}",
            )
            if responses.nash_conv <= nash_conv:
                break
            if time.monotonic() - saved > _SAVE_EVERY:
                solver.save(path, about)
                saved = time.monotonic()
        solver.iterate()
        is_new = False
        progress.update(task, completed=solver.iterations)
    if not is_new:
        solver.save(path, about)
    value = -game.expected(solver.average)
    progress.remove_task(task)
    return _Solved(about, value, responses, solver.iterations, solver.seconds)


def _table(solved: _Solved, path: Path) -> Table:
    table = Table(title=f"{solved.game}: {path}", show_header=False)
    table.add_row("value to the dealer, points a deal", f"{solved.value_to_dealer:.4f}")
    table.add_row("it lies between", f"{-solved.responses.as_pone:.4f} and {solved.responses.as_dealer:.4f}")
    table.add_row("NashConv", f"{solved.responses.nash_conv:.5f}")
    table.add_row("iterations", f"{solved.iterations:,}")
    table.add_row("seconds", f"{solved.seconds:,.0f}")
    return table


def _is_measured(iterations: int) -> bool:
    """At 1, 2, 4, 6, 8, 12, 16, 24, ... iterations: a measurement takes as long as one of them."""
    power = 2 ** math.floor(math.log2(iterations))
    return iterations in (power, power * 3 // 2)
