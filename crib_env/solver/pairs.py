"""Which hands the players hold together.

With a weight for each hand, they are as likely as these two and the ways to deal both. But a player's discards are no
cards of the other's hand, and it discards by what it was dealt. So in whole deals which hands meet does not follow from
how likely each of them is: there it is a factor of its own for each pair.
"""

from __future__ import annotations

from math import perm
from typing import NamedTuple

import numpy as np

from crib_env.engine import DEALER, PONE, ROLES
from crib_env.hands import KING, N_RANKS, RANK_COUNTS
from crib_env.kernels import kernel
from crib_env.solver.endings import WIDTH
from crib_env.solver.public_state import CARDS, GONE, gone_of

_ROUNDS = 12  # of fitting; shares are exact to nine digits then


def pairs_dealt(start: np.ndarray) -> np.ndarray:
    """(n, m) the ways to deal each hand of pone with each of the dealer, one card after the other: the product of 4 - n
    over their cards, n of whose rank are gone before."""
    pone, dealer = (RANK_COUNTS[size] for size in start[CARDS : CARDS + len(ROLES)].tolist())
    ways = np.ones((len(pone), len(dealer)))
    for rank in range(N_RANKS):
        left = 4 - gone_of(start[GONE], rank)
        ways *= np.array([perm(left, n) for n in range(9)])[pone[:, None, rank] + dealer[None, :, rank]]
    return ways


def fitted_weights(shares: tuple[np.ndarray, np.ndarray], pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights of both roles' hands, 1 in the mean, with which each is held as often as it should be.

    It is iterative proportional fitting (Deming and Stephan 1940, "On a least squares adjustment of a sampled frequency
    table when the expected marginal totals are known").

    Args:
        shares: (n,) of pone's hands and (m,) of the dealer's: how often each is held, in any unit.
        pairs: (n, m) of :func:`pairs_dealt`.
    """
    pone, dealer = (np.ones(len(of_role)) for of_role in shares)
    for _ in range(_ROUNDS):
        pone = _scaled(shares[PONE], pairs @ dealer)
        dealer = _scaled(shares[DEALER], pone @ pairs)
    return pone, dealer


def _scaled(shares: np.ndarray, ways: np.ndarray) -> np.ndarray:
    weights = np.divide(shares, ways, out=np.zeros(len(shares)), where=ways > 0)
    return weights / weights.mean()


class Pairs(NamedTuple):
    """Factors of pairs of hands, where the kernels of :mod:`crib_env.solver.sweeps` find them.

    An ending is reached by all hands that agree in all but their last card. So the factors of these stand together.
    """

    laid: np.ndarray
    """(N, 2, 2) int16 what each role has laid before a node: the number of the hand of ranks, without one card if all
    are laid, and then the number of this card, else 0."""
    factors: np.ndarray
    """(J, K, 13, 16) float32 by the other role's hand without its last card, the own one without it, and then these
    last cards. Own is the role whose values are computed. Cards are numbered as hands of one card."""
    n_cards: tuple[int, int]
    """Cards of each role before the play."""


ONLY_WAYS = Pairs(np.zeros((0, 2, 2), np.int16), np.zeros((0, 0, N_RANKS, WIDTH), np.float32), (0, 0))
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
def hands_laid(pairs, hands, at, node, role, rank):
    """What each role has laid when a rank is laid at a node, the role's own first: a hand without its last card, and
    the number of the last card if that is laid too, else 0."""
    actor = np.int64(node["actor"])
    own, own_last = np.int64(pairs.laid[at, role, 0]), np.int64(pairs.laid[at, role, 1])
    other, other_last = np.int64(pairs.laid[at, 1 - role, 0]), np.int64(pairs.laid[at, 1 - role, 1])
    n_laid = pairs.n_cards[actor] - np.int64(node["n_cards"][actor])
    if actor == role and node["n_cards"][role] > 1:
        own = np.int64(hands.with_rank[n_laid, rank, own])
    elif actor == role:
        own_last = np.int64(KING - rank)
    elif node["n_cards"][actor] > 1:
        other = np.int64(hands.with_rank[n_laid, rank, other])
    else:
        other_last = np.int64(KING - rank)
    return own, own_last, other, other_last
