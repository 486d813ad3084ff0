"""The first card of each player in equilibrium of the pegging game: how often each is laid, and what it costs.

The pegging game is the play alone: eight cards dealt at random, four each, no crib and no starter. Suits do not
matter. The value of a card is what its player earns net to the end of the play, by going on as well as possible against
an opponent who plays the equilibrium.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crib_env.engine import DEALER, PONE
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.hands import HAND_TABLES, HANDS, N_RANKS, ORDERINGS
from crib_env.solver.hand_weights import pairs_dealt
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play

VERSION = 1
_KIND = "table of leads"
_HANDS = HANDS[4]
_N = len(_HANDS)
_SHAPES = {
    "lead_chance": (_N, 4),
    "lead_cost": (_N, 4),
    "lead_value": (_N,),
    "led": (N_RANKS, _N),
    "answer_chance": (N_RANKS, _N, 4),
    "answer_cost": (N_RANKS, _N, 4),
    "answer_value": (N_RANKS, _N),
    "nash_conv": (),
}


@dataclass(frozen=True)
class Leads(SavedArrays, kind=_KIND, version=VERSION, columns={k: Column("f", shape) for k, shape in _SHAPES.items()}):
    """Pone's leads and the dealer's answers, by hand of four ranks (:data:`crib_env.hands.HANDS`, lowest first).

    Chances and costs are in the order of the hand's cards. Cards of one rank are one choice and share its numbers.
    """

    lead_chance: np.ndarray  # (1820, 4) how often each rank is led
    lead_cost: np.ndarray  # (1820, 4) points lost by leading it, at least 0
    lead_value: np.ndarray  # (1820,) what pone earns net with the best lead
    led: np.ndarray  # (13, 1820) how likely pone leads a rank, given the dealer's hand
    answer_chance: np.ndarray  # (13, 1820, 4) by rank led, how often each rank is the answer
    answer_cost: np.ndarray  # (13, 1820, 4) points lost by it
    answer_value: np.ndarray  # (13, 1820) what the dealer earns net with the best answer, after the points of the lead
    nash_conv: np.floating[Any]  # of the solution: bounds the error of each number of points, in the mean over hands


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
