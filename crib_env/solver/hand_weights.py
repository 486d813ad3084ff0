"""How likely two players hold two hands of ranks: a weight of each, times the ways to deal both."""

from __future__ import annotations

from math import perm

import numpy as np

from crib_env.engine import DEALER, PONE, ROLES
from crib_env.hands import HANDS, N_RANKS
from crib_env.solver.public_state import CARDS, GONE, gone_of

_ROUNDS = 12  # of fitting; shares are exact to nine digits then


def pairs_dealt(start: np.ndarray) -> np.ndarray:
    """(n, m) the ways to deal each hand of pone with each of the dealer, one card after the other: the product of 4 - n
    over their cards, n of whose rank are gone before."""
    pone, dealer = (_rank_counts(HANDS[size]) for size in start[CARDS : CARDS + len(ROLES)].tolist())
    ways = np.ones((len(pone), len(dealer)))
    for rank in range(N_RANKS):
        left = 4 - gone_of(start[GONE], rank)
        ways *= np.array([perm(left, n) for n in range(9)])[pone[:, None, rank] + dealer[None, :, rank]]
    return ways


def _rank_counts(hands: np.ndarray) -> np.ndarray:
    return np.array([np.bincount(hand, minlength=N_RANKS) for hand in hands])


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
