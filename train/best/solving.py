"""Solves the play, and keeps decisions sampled from each solution: a solution itself would take a gigabyte."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from rich.progress import Progress

from crib_env.agents.belief.simple_players import simple_policy
from crib_env.cards import RANKS
from crib_env.hands import N_RANKS
from crib_env.solver.cfr import PlaySolver, Population
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.tables.prior import prior_of_discards
from crib_env.train.best.solved_decisions import Decisions, SolvedPlay

_NO_STARTER = -1


class Solving(NamedTuple):
    """How a game is solved, and how many decisions are sampled from the solution."""

    iterations: int
    simple_players: float
    """Their share of the opponents."""
    decisions: int
    seed: int
    threads: int
    """They do not change the result."""


def pegging_game(solving: Solving, folder: Path, progress: Progress) -> Decisions:
    """Decisions of the pegging game; from a file in the folder, if they have been sampled before."""
    return _decisions(_NO_STARTER, solving, folder / "pegging.npz", progress)


def deals(solving: Solving, folder: Path, progress: Progress) -> Decisions:
    """Decisions of real deals, as many with each starter; from files in the folder, as far as there are any."""
    each = solving._replace(decisions=max(1, solving.decisions // N_RANKS))
    return Decisions.joined(
        [_decisions(starter, each, folder / f"{RANKS[starter]}.npz", progress) for starter in range(N_RANKS)]
    )


def _decisions(starter: int, solving: Solving, path: Path, progress: Progress) -> Decisions:
    if path.exists():
        return Decisions.load(path, solving.decisions)
    found = _solved(starter, solving, progress).sample(solving.decisions, solving.seed * (N_RANKS + 1) + starter + 1)
    found.save(path)
    return found


def _solved(starter: int, solving: Solving, progress: Progress) -> SolvedPlay:
    is_pegging = starter == _NO_STARTER
    name = "the pegging game" if is_pegging else f"deals with starter {RANKS[starter]}"
    task = progress.add_task(f"solving {name}", total=solving.iterations)
    start = start_of_play(starter=None if is_pegging else starter)
    game = PlayGame(None if is_pegging else prior_of_discards(starter), start, solving.threads)
    population = None
    if solving.simple_players:
        population = Population(game, simple_policy(game, start), solving.simple_players)
    solver = PlaySolver(game, population)
    for _ in range(solving.iterations):
        solver.iterate()
        progress.advance(task)
    progress.remove_task(task)
    return SolvedPlay.of(start, starter, game.prior, game.tree, solver.average)
