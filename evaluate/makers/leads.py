"""Reads leads and answers, their frequencies and costs, from a solution of the pegging game."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from crib_env.engine import DEALER, PONE
from crib_env.evaluate.command_line import File
from crib_env.evaluate.commands.solve import PEGGING_GAME
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.hands import HAND_TABLES, HANDS, N_RANKS, ORDERINGS
from crib_env.solver.cfr import PlaySolver, check_solution
from crib_env.solver.pairs import pairs_dealt
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.tables.shipped import Leads
from crib_env.values import Threads

_HANDS = HANDS[4]
_N = len(_HANDS)


def leads_of(game: PlayGame, policy: np.ndarray) -> Leads:
    """Reads the first cards of a solution.

    Args:
        policy: (S,) float32, see :meth:`crib_env.solver.play_game.PlayGame.expected`.
    """
    ways = pairs_dealt(start_of_play()) * ORDERINGS[4][:, None] * ORDERINGS[4]  # by pone's and the dealer's hand
    values = game.response_values(policy, PONE)
    chances = _chances(game, policy, 0)
    lead_chance, lead_cost, lead_value = _choices(game, values, 0, chances, ways.sum(axis=1) / ORDERINGS[4])
    values = game.response_values(policy, DEALER)
    answers, led = [], []
    for rank in range(N_RANKS):
        node = game.child(0, rank)
        dealt = chances[:, rank] @ ways  # with each hand of the dealer
        led.append(dealt / ways.sum(axis=0))
        answers.append(_choices(game, values, node, _chances(game, policy, node), dealt / ORDERINGS[4]))
    answer_chance, answer_cost, answer_value = map(np.array, zip(*answers))
    return Leads(
        lead_chance,
        lead_cost,
        lead_value,
        np.array(led).round(5).astype(np.float32),
        answer_chance,
        answer_cost,
        answer_value,
        np.float32(game.best_responses(policy).nash_conv),
    )


def _chances(game: PlayGame, policy: np.ndarray, node: int) -> np.ndarray:
    """(1820, 13) how likely each hand of four lays each rank at a node."""
    return np.array([game.chances_at(policy, node, hand) for hand in range(_N)])


def _choices(
    game: PlayGame, values: np.ndarray, node: int, chances: np.ndarray, dealt: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chances, costs and the best value of the cards of each hand at a node, for ``dealt`` ways to be there."""
    children = np.array([game.child(node, rank) for rank in range(N_RANKS)])
    left = HAND_TABLES.without_rank[4, _HANDS, np.arange(_N)[:, None]]
    is_dealt = dealt[:, None] > 0  # nobody leads a rank of which the dealer holds all four
    summed = values[game.nodes["value_at"][children][_HANDS] + left]
    worth = np.divide(summed, dealt[:, None], out=np.zeros(summed.shape), where=is_dealt)
    best = worth.max(axis=1)
    chosen = chances[np.arange(_N)[:, None], _HANDS]
    return _rounded(chosen, np.float16), _rounded(best[:, None] - worth, np.float16), _rounded(best, np.float32)


def _rounded(numbers: np.ndarray, kind: type[np.floating[Any]]) -> np.ndarray:
    """Rounds to thousandths: the solution is no more exact, and the file is a third smaller."""
    return numbers.round(3).astype(kind)


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
    solver = PlaySolver(PlayGame(threads=threads))
    solver.load(solution, PEGGING_GAME)
    found = leads_of(solver.game, solver.average)
    found.save(path)
    console.print(f"{path}: of a solution with NashConv {float(found.nash_conv):.5f}", soft_wrap=True)


if __name__ == "__main__":
    run(leads)
