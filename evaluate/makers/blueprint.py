"""How the blueprint of ``equilibrium`` is made from solutions of whole deals and of the pegging game."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from crib_env.agents.choosing import without_rare
from crib_env.agents.equilibrium import Blueprint, first_cards
from crib_env.engine import ROLES
from crib_env.evaluate.command_line import File
from crib_env.evaluate.commands.solve import PEGGING_GAME
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.hands import N_RANKS, ORDERINGS
from crib_env.solver.cfr import check_solution, load_solution
from crib_env.solver.deal.holdings import by_choice, hand_weights
from crib_env.solver.deal.saved import load_discards, load_play, newest
from crib_env.solver.pairs import pairs_dealt
from crib_env.solver.play_game import SPLIT
from crib_env.solver.public_state import start_of_play
from crib_env.solver.tree import build_tree
from crib_env.tables.prior import UNUSUAL


def make_blueprint(pegging: Path, state: Path) -> Blueprint:
    """A blueprint from the file of the pegging game's solution and the newest state of ``solve deal``."""
    chances = np.stack([without_rare(average) for average in load_discards(state)["average"]])
    tree, extent, _ = build_tree(start_of_play(), SPLIT)
    found = []
    for starter in range(N_RANKS):
        found.append(first_cards(tree, load_play(state, starter, extent.slots)["average"]))
    found.append(first_cards(tree, load_solution(pegging, PEGGING_GAME, extent.slots)["average"]))
    lead, reply, third = (np.stack(parts) for parts in zip(*found))
    return Blueprint(_weights(chances), lead, reply, third, np.rint(255 * chances).astype(np.uint8))


def _weights(chances: np.ndarray) -> np.ndarray:
    """(14, 2, 1820) float32, of the hands beside each starter, and of the pegging game's."""
    possible = [by_choice((1 - UNUSUAL) * of_role + UNUSUAL / N_DISCARDS) for of_role in chances]
    starters = [pairs_dealt(start_of_play(starter=starter)) for starter in range(N_RANKS)]
    beside = [hand_weights(possible, starter, pairs) for starter, pairs in enumerate(starters)]
    return np.array([*beside, [ORDERINGS[4]] * len(ROLES)], np.float32)


def blueprint(
    path: File,
    pegging: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PEGGING")],
    deals: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DEALS")],
) -> None:
    """Makes the blueprint that `equilibrium` plays by: the discards and the first three cards of solved deals.

    Args:
        path: The file of the blueprint; an existing file is replaced.
        pegging: The file of `solve play`, for the pegging game.
        deals: The folder of `solve deal`.
    """
    check_outputs(path)
    check_solution(pegging, PEGGING_GAME)
    state = newest(deals)
    if state is None:
        raise ValueError(f"{deals} holds no solution: give the folder of solve deal")
    make_blueprint(pegging, state).save(path)
    console.print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    run(blueprint)
