"""Which hands the players hold together, where this is more than a matter of the ways to deal both.

A player's discards are no cards of the other's hand, and it discards by what it was dealt. So which hands meet does not
follow from how likely each of them is. Here it is a factor of its own for each pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.hands import KING, N_RANKS
from crib_env.kernels import kernel
from crib_env.solver.endings import WIDTH


class Pairs(NamedTuple):
    """Factors of pairs of hands, where the kernels of :mod:`crib_env.solver.sweeps` find them.

    An ending is reached by all hands that agree in all but their last card. So the factors of these stand together.
    """

    laid: np.ndarray
    """(N, 2) int16 the number of the hand of ranks that each role has laid before a node."""
    factors: np.ndarray
    """(J, K, 13, 16) float32 by the other role's hand without its last card, the own one without it, and then these
    last cards. Own is the role whose values are computed. Cards are numbered as hands of one card."""
    n_cards: tuple[int, int]
    """Cards of each role before the play."""


ONLY_WAYS = Pairs(np.zeros((0, 2), np.int16), np.zeros((0, 0, N_RANKS, WIDTH), np.float32), (0, 0))
"""No factors: pairs of hands are as likely as there are ways to deal them."""


@kernel
def fill_factors(pairs, role, n_cards, hands, first, last, factors):
    """Fills ``factors`` of :class:`Pairs` for the other role's hands ``first`` to ``last - 1`` (without the last card).

    Args:
        pairs: (n, m) float32 by the hand of ``role`` and that of the other.
    """
    n_own, n_other = n_cards[role] - 1, n_cards[1 - role] - 1
    for other in range(first, last):
        for y in range(N_RANKS):
            theirs = hands.with_rank[n_other, KING - y, other]
            for own in range(factors.shape[1]):
                for x in range(N_RANKS):
                    factors[other, own, y, x] = pairs[hands.with_rank[n_own, KING - x, own], theirs]


@kernel
def fill_laid(tree, n_cards, hands, laid):
    """Fills ``laid`` (N, 2) of :class:`Pairs`, which begins as zeros."""
    for at in range(len(tree.nodes)):
        node = tree.nodes[at]
        role = np.int64(node["actor"])
        low, high = np.int64(node["floor"][role]), np.int64(node["high"])
        for rank in range(min(low, high), high + (high < N_RANKS)):
            child = tree.links[node["first_link"] + rank - min(low, high)]["to"]
            if child >= 0:
                laid[child] = laid[at]
                if rank < high:
                    laid[child, role] = hands.with_rank[n_cards[role] - node["n_cards"][role], rank, laid[at, role]]


@kernel
def _without_lowest(hands, n, hand):
    """A hand of ``n`` cards without its lowest card, and the number of this card."""
    for lowest in range(N_RANKS):
        left = np.int64(hands.without_rank[n, lowest, hand])
        if left >= 0:
            return left, np.int64(KING - lowest)
    return np.int64(0), np.int64(0)


@kernel
def hands_laid(pairs, hands, at, node, role):
    """What each role has laid before a node, the role's own first: a hand without its last card, and the number of the
    last card if that was laid before, else 0."""
    own, other = np.int64(pairs.laid[at, role]), np.int64(pairs.laid[at, 1 - role])
    own_last, other_last = np.int64(0), np.int64(0)
    if node["n_cards"][role] == 0:
        own, own_last = _without_lowest(hands, pairs.n_cards[role], own)
    if node["n_cards"][1 - role] == 0:
        other, other_last = _without_lowest(hands, pairs.n_cards[1 - role], other)
    return own, own_last, other, other_last
