"""From solutions of the play to a blueprint: the policy of the first three cards, in 255ths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.hands import HAND_TABLES, N_HANDS, N_RANKS
from crib_env.solver.tree import PublicTree


class FirstCards(NamedTuple):
    """One starter's part of :class:`crib_env.agents.equilibrium.blueprint.Blueprint`."""

    lead: np.ndarray
    """(13, 455) uint8"""
    reply: np.ndarray
    """(13, 13, 455) uint8"""
    third: np.ndarray
    """(13, 13, 13, 91) uint8"""


def first_cards(tree: PublicTree, policy: np.ndarray) -> FirstCards:
    """The first cards of a policy of the whole play.

    Args:
        tree: of the play from its start, with four cards each.
        policy: (S,) float32, as :meth:`crib_env.solver.play_game.PlayGame.expected` takes it.
    """
    three, two = N_HANDS[3, 0], N_HANDS[2, 0]
    found = FirstCards(*(np.zeros((*[N_RANKS] * k, n), np.uint8) for k, n in ((1, three), (2, three), (3, two))))
    found.lead[:] = _chances(tree, policy, 0)
    for lead, reply_at in enumerate(_follows(tree, 0)):
        found.reply[lead] = _chances(tree, policy, reply_at)
        for reply, third_at in enumerate(_follows(tree, reply_at)):
            found.third[lead, reply] = _chances(tree, policy, third_at)
    return found


def _follows(tree: PublicTree, at: int) -> list[int]:
    """The nodes to which each rank leads that is laid at a node where all fit."""
    first = tree.nodes[at]["first_link"]
    return tree.links["to"][first : first + N_RANKS].tolist()


def _chances(tree: PublicTree, policy: np.ndarray, at: int) -> np.ndarray:
    """(13, n) uint8 chances at a node where all ranks fit, by the rank laid and the hand left."""
    node = tree.nodes[at]
    k = int(node["n_cards"][node["actor"]])
    n_left = int(N_HANDS[k - 1, 0])
    weights = np.maximum(policy[node["first_slot"] :][: N_RANKS * n_left], 0).reshape(N_RANKS, n_left)
    hands = HAND_TABLES.with_rank[k - 1, :, :n_left]
    total = np.bincount(hands.ravel(), weights.ravel(), N_HANDS[k, 0])[hands]
    even = 1 / HAND_TABLES.n_playable[k, N_RANKS, hands]
    return np.rint(255 * np.divide(weights, total, out=even, where=total > 0)).astype(np.uint8)
