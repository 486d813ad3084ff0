"""The play of simple players, as a policy for the solver: the two types of opponent in one population."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.agents.belief.lookahead import one_of
from crib_env.agents.belief.opponent_hands import GREEDY_SHARE, SLIP, careful_choice, greedy_chance, weigh_cards
from crib_env.engine import DEALER, PONE
from crib_env.hands import HAND_TABLES, HANDS, N_HANDS, N_RANKS, packed
from crib_env.kernels import kernel
from crib_env.scoring import card_value
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import CARDS, COUNT, N_FIELDS, N_PILE, lay_rank, say_go
from crib_env.solver.sweeps import Blend, Blended
from crib_env.solver.tree import PublicTree

_PACKED = np.zeros((len(HANDS), len(HANDS[-1])), np.int64)  # by number of cards and hand
for _k, _hands in enumerate(HANDS):
    _PACKED[_k, : len(_hands)] = packed(_hands)


class Simple(NamedTuple):
    """Something of both types, a greedy player's and a careful one's."""

    greedy: np.ndarray
    careful: np.ndarray


def simple_policies(tree: PublicTree, root: np.ndarray, slots: int) -> Simple:
    """How each type plays, (S,) float32 as :meth:`crib_env.solver.play_game.PlayGame.expected` takes it."""
    policies = Simple(*(np.zeros(slots, np.float32) for _ in Simple._fields))
    _fill_types(tree, root, HAND_TABLES, _PACKED, policies)
    return policies


def simple_policy(game: PlayGame, start: np.ndarray) -> np.ndarray:
    """How the players of :mod:`crib_env.agents.belief.opponent_hands` play, of both types together.

    Returns:
        (S,) float32, as :meth:`crib_env.solver.play_game.PlayGame.expected` takes it.
    """
    greedy, careful = simple_policies(game.tree, start, game.extent.slots)
    both = np.zeros(game.extent.slots, np.float32)
    for role in (PONE, DEALER):
        game.blend(Blend(greedy, np.float32(GREEDY_SHARE), careful), role, Blended(both))
    return both


def simple_ranges(weights: np.ndarray, ranks: np.ndarray) -> tuple[Simple, Simple]:
    """What each type may hold after the first three cards, by role: weights (91,) of pone's hands, (455,) of the
    dealer's, which add up to those of all simple players.

    Args:
        weights: (2, 1820) by role, of the hands before the play.
        ranks: (3,) int64 that were laid.
    """
    pone, dealer = (np.empty((len(Simple._fields), n)) for n in (N_HANDS[2, 0], N_HANDS[3, 0]))
    _fill_ranges(weights, ranks, HAND_TABLES, _PACKED, pone, dealer)
    return Simple(*pone), Simple(*dealer)


@kernel
def _fill_ranges(weights, ranks, hands, packed, pone, dealer):
    care, greed = np.empty((3, N_RANKS)), np.empty((3, N_RANKS), np.int64)
    pile, everything = np.zeros(10, np.int64), np.int64(0)
    for rank in range(N_RANKS):
        everything += one_of(rank)
    count = np.int64(0)
    for n in range(3):
        weigh_cards(everything, pile, np.int64(0), np.int64(n), count, np.int64(4 - (n + 1) // 2), care[n], greed[n])
        pile[n] = ranks[n]
        count += card_value(ranks[n])
    lead, reply, third = ranks[0], ranks[1], ranks[2]
    for two in range(len(pone[0])):
        three = hands.with_rank[2, third, two]
        four = hands.with_rank[3, lead, three]
        before, then = packed[4, four], packed[3, three]
        weight = weights[PONE, four]
        pone[0, two] = GREEDY_SHARE * weight * greedy_chance(lead, before, greed[0], SLIP)
        pone[0, two] *= greedy_chance(third, then, greed[2], SLIP)
        pone[1, two] = (1 - GREEDY_SHARE) * weight * care[0, lead] / careful_choice(before, care[0], 0.0)[1]
        pone[1, two] *= care[2, third] / careful_choice(then, care[2], 0.0)[1]
    for three in range(len(dealer[0])):
        four = hands.with_rank[3, reply, three]
        before, weight = packed[4, four], weights[DEALER, four]
        dealer[0, three] = GREEDY_SHARE * weight * greedy_chance(reply, before, greed[1], SLIP)
        dealer[1, three] = (1 - GREEDY_SHARE) * weight * care[1, reply] / careful_choice(before, care[1], 0.0)[1]


@kernel
def _fill_types(tree, start, hands, packed, policies):
    states = np.empty((len(tree.nodes), N_FIELDS), np.int64)
    states[0] = start
    care, greed, pile = np.empty(N_RANKS), np.empty(N_RANKS, np.int64), np.empty(10, np.int64)
    for at in range(len(states)):
        node, s = tree.nodes[at], states[at]
        role = np.int64(node["actor"])
        k, low, high = np.int64(node["n_cards"][role]), np.int64(node["floor"][role]), np.int64(node["high"])
        for rank in range(min(low, high), high + (high < N_RANKS)):
            child = tree.links[node["first_link"] + rank - min(low, high)]["to"]
            if child >= 0:
                states[child] = s
                if rank < high:
                    lay_rank(states[child], rank)
                else:
                    say_go(states[child])
        if k < 2 or low >= high:
            continue
        present = np.int64(0)
        for rank in range(low, high):
            present += one_of(rank)
        for n in range(s[N_PILE]):
            pile[n] = s[n]
        weigh_cards(present, pile, np.int64(0), s[N_PILE], s[COUNT], s[CARDS + 1 - role], care, greed)
        slot, n_left = node["first_slot"], hands.n_hands[k - 1, low]
        fits = present * 15
        for rank in range(low, high):
            for left in range(n_left):
                policies.careful[slot + left] = care[rank]
                hand = packed[k, hands.with_rank[k - 1, rank, left]]
                policies.greedy[slot + left] = greedy_chance(rank, hand & fits, greed, SLIP)
            slot += n_left
