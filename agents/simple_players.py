"""The play of simple players, as a policy for the solver: the two types of opponent in one population."""

from __future__ import annotations

import numpy as np

from crib_env.agents.belief import GREEDY_SHARE, SLIP, greedy_chance, weigh_cards
from crib_env.agents.lookahead import one_of
from crib_env.engine import DEALER, PONE
from crib_env.hands import HAND_TABLES, HANDS, N_RANKS, packed
from crib_env.kernels import kernel
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import CARDS, COUNT, N_FIELDS, N_PILE, lay_rank, say_go
from crib_env.solver.sweeps import Blend, Blended

_PACKED = np.zeros((len(HANDS), len(HANDS[-1])), np.int64)  # by number of cards and hand
for _k, _hands in enumerate(HANDS):
    _PACKED[_k, : len(_hands)] = packed(_hands)


def simple_policy(game: PlayGame, start: np.ndarray) -> np.ndarray:
    """How the players of :mod:`crib_env.agents.belief` play, of both types together.

    Returns:
        (S,) float32, as :meth:`crib_env.solver.play_game.PlayGame.expected` takes it.
    """
    greedy, careful, both = (np.zeros(game.extent.slots, np.float32) for _ in range(3))
    _fill_types(game.tree, start, HAND_TABLES, _PACKED, greedy, careful)
    for role in (PONE, DEALER):
        game.blend(Blend(greedy, np.float32(GREEDY_SHARE), careful), role, Blended(both))
    return both


@kernel
def _fill_types(tree, start, hands, packed, greedy, careful):
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
                careful[slot + left] = care[rank]
                hand = packed[k, hands.with_rank[k - 1, rank, left]]
                greedy[slot + left] = greedy_chance(rank, hand & fits, greed, SLIP)
            slot += n_left
