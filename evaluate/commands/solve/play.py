"""The equilibrium of the play, with its exact distance from one."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from rich.progress import Progress
from rich.table import Table

from crib_env.agents.belief.simple_players import simple_policy
from crib_env.evaluate.command_line import File, SomeJson
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.folder_lock import held_file
from crib_env.evaluate.progress import progress_bar, say
from crib_env.evaluate.ranges import Positive, Share, Threads
from crib_env.solver.cfr import PlaySolver, Population, check_solution
from crib_env.solver.play_game import BestResponses, PlayGame
from crib_env.solver.public_state import start_of_play

_SAVE_EVERY = 120.0  # seconds
PEGGING_GAME = "the pegging game"
_SMALLER = {2: " with two cards each", 3: " with three cards each", 4: ""}


def _among(simple_players: float, game: str) -> str:
    return f"{game}, {100 * simple_players:g} % simple players" if simple_players else game


class _Aim(NamedTuple):
    """What to solve a game for."""

    nash_conv: float
    """To stop at."""
    simple_players: float
    """Their share of the opponents."""


class _Solved(NamedTuple):
    """A solution: its value, its distance from equilibrium and its cost."""

    game: str
    value_to_dealer: float
    """Net points a deal."""
    nash_conv: float
    responses: BestResponses
    iterations: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        return {
            "game": self.game,
            "value_to_dealer": self.value_to_dealer,
            "nash_conv": self.nash_conv,
            "exploitability": self.responses.nash_conv / 2,
            "best_response_as_pone": self.responses.as_pone,
            "best_response_as_dealer": self.responses.as_dealer,
            "iterations": self.iterations,
            "seconds": self.seconds,
        }


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
    about = _among(simple_players, PEGGING_GAME + _SMALLER[cards])
    if path.exists():
        check_solution(path, about)
    with held_file(path), progress_bar() as progress:
        solved = _solve(path, about, start_of_play(cards), _Aim(nash_conv, simple_players), threads, progress)
    if json_file is not None:
        write_json(json_file, solved.as_json())
    console.print(_table(solved, path))


def _solve(
    path: Path,
    about: str,
    start: np.ndarray,
    aim: _Aim,
    threads: int,
    progress: Progress,
) -> _Solved:
    """Solves one game, or continues it. The file is written every few minutes and at the end."""
    task = progress.add_task("the public tree", total=None)
    game = PlayGame(start=start, threads=threads)
    population = None
    if aim.simple_players:
        population = Population(game, simple_policy(game, start), aim.simple_players)
    solver = PlaySolver(game, population)
    if path.exists():
        solver.load(path, about)
        say(progress, f"{path} has {solver.iterations:,} iterations")
    progress.update(task, description="iterations", completed=solver.iterations)
    saved, is_new = time.monotonic(), True
    while True:
        if solver.iterations and (is_new or _is_measured(solver.iterations)):
            distance = solver.nash_conv()
            say(
                progress,
                f"{about}: {solver.iterations:,} iterations, {solver.seconds:.0f} s: NashConv {distance:.5f}",
            )
            if distance <= aim.nash_conv:
                break
            if time.monotonic() - saved > _SAVE_EVERY:
                solver.save(path, about)
                saved = time.monotonic()
        solver.iterate()
        is_new = False
        progress.update(task, completed=solver.iterations)
    if not is_new:
        solver.save(path, about)
    value, responses = -game.expected(solver.average), solver.best_responses()
    progress.remove_task(task)
    return _Solved(about, value, distance, responses, solver.iterations, solver.seconds)


def _table(solved: _Solved, path: Path) -> Table:
    table = Table(title=f"{solved.game}: {path}", show_header=False)
    table.add_row("value to the dealer, points a deal", f"{solved.value_to_dealer:.4f}")
    table.add_row("it lies between", f"{-solved.responses.as_pone:.4f} and {solved.responses.as_dealer:.4f}")
    table.add_row("NashConv", f"{solved.nash_conv:.5f}")
    table.add_row("exploitability", f"{solved.responses.nash_conv / 2:.5f}")
    table.add_row("iterations", f"{solved.iterations:,}")
    table.add_row("seconds", f"{solved.seconds:,.0f}")
    return table


def _is_measured(iterations: int) -> bool:
    """At 1, 2, 4, 6, 8, 12, 16, 24, ... iterations: a measurement takes as long as one of them."""
    power = 2 ** math.floor(math.log2(iterations))
    return iterations in (power, power * 3 // 2)
