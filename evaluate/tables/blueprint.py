"""How the blueprint of ``equilibrium`` is made: of whole deals solved, or of the play after fixed discards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from crib_env.agents.choosing import without_rare
from crib_env.agents.equilibrium.blueprint import Blueprint, FirstCards, first_cards
from crib_env.engine import ROLES
from crib_env.exact.deal_classes import N_CLASSES, class_sizes
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.hands import N_RANKS, ORDERINGS
from crib_env.solver.cfr import load_solution
from crib_env.solver.deal.holdings import by_choice, hand_weights
from crib_env.solver.deal.saved import load_discards, load_play
from crib_env.solver.deal.shows import choices
from crib_env.solver.deal.sixes import sixes
from crib_env.solver.play_game import SPLIT
from crib_env.solver.public_state import start_of_play
from crib_env.solver.tree import Extent, PublicTree, build_tree
from crib_env.tables.prior import UNUSUAL, prior_of_discards

PlayOf = Callable[[int, PublicTree, Extent], FirstCards]
"""Of a starter's rank and the tree without a starter, the first cards beside it."""


def make_blueprint(
    pegging: tuple[Path, str],
    weights: np.ndarray,
    discards: np.ndarray,
    play: PlayOf,
    on_progress: Callable[[int], None],
) -> Blueprint:
    """Puts a blueprint together.

    Args:
        pegging: the file of the pegging game's solution, and which game it is of.
        weights: (13, 2, 1820) of the hands beside each starter.
        discards: (2, 962988, 15) uint8, of :class:`crib_env.agents.equilibrium.blueprint.Blueprint`.
        play: the first cards beside each starter.
        on_progress: called with 1 after each of fourteen parts.
    """
    tree, extent, _ = build_tree(start_of_play(), SPLIT)
    found = []
    for starter in range(N_RANKS):
        found.append(play(starter, tree, extent))
        on_progress(1)
    found.append(first_cards(tree, load_solution(*pegging, extent.slots)["average"]))
    on_progress(1)
    of_pegging = np.stack([ORDERINGS[4]] * len(ROLES))[None]
    lead, reply, third = (np.stack(parts) for parts in zip(*found))
    return Blueprint(np.concatenate([weights, of_pegging]).astype(np.float32), lead, reply, third, discards)


def of_deals(state: Path) -> tuple[np.ndarray, np.ndarray, PlayOf]:
    """``weights``, ``discards`` and ``play`` of :func:`make_blueprint`, from a state of ``solve deal``."""
    kinds, of_classes, sizes = sixes(), choices(), class_sizes()
    chances = np.stack([without_rare(average) for average in load_discards(state)["average"]])
    weights = np.empty((N_RANKS, len(ROLES), len(ORDERINGS[4])))
    for role in range(len(ROLES)):
        kept = by_choice(chances[role], of_classes.choice, sizes, kinds)
        for starter in range(N_RANKS):
            weights[starter, role] = (1 - UNUSUAL) * hand_weights(kept, starter, kinds)
    weights += UNUSUAL / N_DISCARDS * ORDERINGS[4]

    def play(starter: int, tree: PublicTree, extent: Extent) -> FirstCards:
        return first_cards(tree, load_play(state, starter, extent.slots)["average"])

    return weights, np.rint(255 * chances).astype(np.uint8), play


def after_fixed_discards(solutions: list[tuple[Path, str]]) -> tuple[np.ndarray, np.ndarray, PlayOf]:
    """The same from thirteen files of ``solve play --prior discards`` and which games they are of; no discards."""

    def play(starter: int, tree: PublicTree, extent: Extent) -> FirstCards:
        own_tree, own_extent, _ = build_tree(start_of_play(starter=starter), SPLIT)
        return first_cards(own_tree, load_solution(*solutions[starter], own_extent.slots)["average"])

    weights = np.array([prior_of_discards(starter) for starter in range(N_RANKS)])
    return weights, np.zeros((len(ROLES), N_CLASSES, N_DISCARDS), np.uint8), play
