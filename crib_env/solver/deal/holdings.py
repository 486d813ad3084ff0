"""What a player may hold after its discards: hands of four ranks beside the cards that somebody else sees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crib_env.engine import DEALER, PONE
from crib_env.exact.deal_classes import class_sizes
from crib_env.hands import N_FOURS, N_RANKS
from crib_env.kernels import kernel
from crib_env.solver.deal.shows import choices
from crib_env.solver.deal.sixes import WAYS, fill_ways, sixes
from crib_env.solver.hand_weights import fitted_weights


def by_choice(chances: np.ndarray) -> np.ndarray:
    """(C,) how likely each choice is made, if its kind is dealt, in the mean over all suits.

    Args:
        chances: (962988, 15) how likely each discard of a class is made.
    """
    kinds, deals = sixes(), chances * class_sizes()[:, None]
    found = np.bincount(choices().choice.ravel(), deals.ravel(), len(kinds.six))
    return found / kinds.ways()[kinds.six]


def hand_weights(chances: Sequence[np.ndarray], starter: int, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights (1820,) of both roles' hands beside a starter, for :meth:`crib_env.solver.play_game.PlayGame.deal`.

    With them each hand is held as often as its role keeps it. Which pairs of hands meet is approximate: the discards of
    a player are cards that the other cannot hold, and weights of hands leave that out. It moves 6 % of the probability.

    Args:
        chances: (C,) by role, of :func:`by_choice`.
        starter: its rank.
        pairs: (1820, 1820) of :func:`crib_env.solver.hand_weights.pairs_dealt`.
    """
    return fitted_weights((_kept(chances[PONE], starter), _kept(chances[DEALER], starter)), pairs)


def _kept(chances: np.ndarray, starter: int) -> np.ndarray:
    """(1820,) in how many deals of six cards each hand is kept, beside a starter."""
    kinds = sixes()
    deals = WAYS[4 - (np.arange(N_RANKS) == starter), kinds.counts].prod(axis=1)
    return np.bincount(kinds.kept, chances * deals[kinds.six], N_FOURS)


@kernel
def fill_hands(chances, made, six, starter, kinds, ways, hands):
    """Fills ``hands`` (1820,) with in how many deals a player holds each hand beside a starter and six known cards.

    Args:
        chances: (C,) of :func:`by_choice`; ``made`` lists those above 0.
        six: the kind of the known cards.
        starter: its rank, of which fewer than four are known.
        ways: (K,) float64, to work in.
    """
    left = np.empty(N_RANKS, np.int64)
    for rank in range(N_RANKS):
        left[rank] = 4 - kinds.counts[six, rank] - (rank == starter)
    fill_ways(kinds.parts, left, ways)
    hands[:] = 0
    for choice in made:
        hands[kinds.kept[choice]] += chances[choice] * ways[kinds.six[choice]]
