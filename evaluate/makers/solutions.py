"""What the solutions of the pegging game and of whole deals leave: the table of leads, and ``equilibrium``'s blueprint.

Leads and answers have their frequencies and costs. The blueprint has discards and the first three cards of a deal.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from crib_env.agents.choosing import without_rare
from crib_env.agents.equilibrium import Blueprint
from crib_env.engine import DEALER, PONE, ROLES
from crib_env.evaluate.command_line import Folder
from crib_env.evaluate.commands.solve import PEGGING_GAME
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.hands import HAND_TABLES, HANDS, N_HANDS, N_RANKS, ORDERINGS
from crib_env.solver.cfr import PlaySolver, check_solution
from crib_env.solver.deal.kinds import by_choice, kept
from crib_env.solver.deal.solver import load_discards, load_play, newest
from crib_env.solver.pairs import fitted_weights, pairs_dealt
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.tables.prior import UNUSUAL
from crib_env.tables.shipped import Leads
from crib_env.values import Threads

_HANDS = HANDS[4]
_N = len(_HANDS)


def leads_of(game: PlayGame, policy: np.ndarray) -> Leads:
    """Reads the first cards of a solution (S,) float32 of the pegging game."""
    ways = pairs_dealt(start_of_play()) * ORDERINGS[4][:, None] * ORDERINGS[4]  # by pone's and the dealer's hand
    values = game.response_values(policy, PONE)
    chances = _chances(game, policy, 0)
    leads = _choices(game, values, 0, chances, ways.sum(axis=1) / ORDERINGS[4])
    values = game.response_values(policy, DEALER)
    answers, led = [], []
    for rank in range(N_RANKS):
        node = game.child(0, rank)
        dealt = chances[:, rank] @ ways  # with each hand of the dealer
        led.append(dealt / ways.sum(axis=0))
        answers.append(_choices(game, values, node, _chances(game, policy, node), dealt / ORDERINGS[4]))
    chance, cost, value = map(np.array, zip(*answers))
    nash_conv = np.float32(game.best_responses(policy).nash_conv)
    return Leads(*leads, np.array(led).round(5).astype(np.float32), chance, cost, value, nash_conv)


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
    # To thousandths: the solution is no more exact, and the file is a third smaller.
    chosen, cost, best = (numbers.round(3) for numbers in (chosen, best[:, None] - worth, best))
    return chosen.astype(np.float16), cost.astype(np.float16), best.astype(np.float32)


def blueprint_of(game: PlayGame, policy: np.ndarray, state: Path) -> Blueprint:
    """A blueprint from a solution of the pegging game and the newest state of ``solve deal``."""
    chances = np.stack([without_rare(average) for average in load_discards(state)["average"]])
    policies = (load_play(state, starter, game.extent.slots)["average"] for starter in range(N_RANKS))
    found = [first_cards(game, one) for one in (*policies, policy)]
    lead, reply, third = (np.stack(parts) for parts in zip(*found))
    return Blueprint(_weights(chances), lead, reply, third, np.rint(255 * chances).astype(np.uint8))


def first_cards(game: PlayGame, policy: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lead, reply and third card of a policy (S,) float32, as a :class:`Blueprint` has them of one starter."""
    three, two = N_HANDS[3, 0], N_HANDS[2, 0]
    lead, reply, third = (np.zeros((*[N_RANKS] * k, n), np.uint8) for k, n in ((1, three), (2, three), (3, two)))
    lead[:] = _shares(game, policy, 0)
    for first in range(N_RANKS):
        reply_at = game.child(0, first)
        reply[first] = _shares(game, policy, reply_at)
        for second in range(N_RANKS):
            third[first, second] = _shares(game, policy, game.child(reply_at, second))
    return lead, reply, third


def _shares(game: PlayGame, policy: np.ndarray, at: int) -> np.ndarray:
    """(13, n) chances in 255ths at a node where all ranks fit, by the rank laid and the hand left."""
    node = game.nodes[at]
    k = int(node["n_cards"][node["actor"]])
    n_left = int(N_HANDS[k - 1, 0])
    weights = np.maximum(policy[node["first_slot"] :][: N_RANKS * n_left], 0).reshape(N_RANKS, n_left)
    hands = HAND_TABLES.with_rank[k - 1, :, :n_left]
    total = np.bincount(hands.ravel(), weights.ravel(), N_HANDS[k, 0])[hands]
    even = 1 / HAND_TABLES.n_playable[k, N_RANKS, hands]
    return np.rint(255 * np.divide(weights, total, out=even, where=total > 0)).astype(np.uint8)


def _weights(chances: np.ndarray) -> np.ndarray:
    """(14, 2, 1820) float32, of the hands beside each starter, and of the pegging game's."""
    possible = [by_choice((1 - UNUSUAL) * of_role + UNUSUAL / N_DISCARDS) for of_role in chances]
    beside = []
    for starter in range(N_RANKS):  # which pairs of hands meet is approximate: discards are left out (6 %)
        pone, dealer = (kept(of_role, starter) for of_role in possible)
        beside.append(fitted_weights((pone, dealer), pairs_dealt(start_of_play(starter=starter))))
    return np.array([*beside, [ORDERINGS[4]] * len(ROLES)], np.float32)


def solutions(
    pegging: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PEGGING")],
    deals: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DEALS")],
    folder: Folder,
    threads: Threads = 2,
) -> None:
    """Writes what ships of solutions: `leads.npz`, `blueprint.npz` and, as it is, `deals.npz`.

    Args:
        pegging: The file of `solve play`, for the pegging game.
        deals: The folder of `solve deal`.
        folder: Where to write them; existing files are replaced.
        threads: Number of threads.
    """
    files = [folder / f"{name}.npz" for name in ("leads", "blueprint", "deals")]
    check_outputs(*files)
    check_solution(pegging, PEGGING_GAME)
    state = newest(deals)
    if state is None:
        raise ValueError(f"{deals} holds no solution: give the folder of solve deal")
    solver = PlaySolver(PlayGame(threads=threads))
    solver.load(pegging, PEGGING_GAME)
    found = leads_of(solver.game, solver.average)
    found.save(files[0])
    blueprint_of(solver.game, solver.average, state).save(files[1])
    shutil.copy(deals / "values.npz", files[2])
    console.print(f"{folder}: of a solution with NashConv {float(found.nash_conv):.5f}", soft_wrap=True)


if __name__ == "__main__":
    run(solutions)
