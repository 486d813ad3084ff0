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
    """The weights (1820,) of both roles' hands beside a starter, for :class:`crib_env.solver.play_game.PlayGame`.

    With them each hand is held as often as its role keeps it. Which pairs of hands meet is approximate: the discards of
    a player are cards that the other cannot hold, and weights of hands leave that out. It moves 6 % of the probability;
    :func:`crib_env.solver.deal.meetings.meetings` is exact.

    Args:
        chances: (C,) by role, of :func:`by_choice`.
        starter: its rank.
        pairs: (1820, 1820) of :func:`crib_env.solver.hand_weights.pairs_dealt`.
    """
    return fitted_weights((kept(chances[PONE], starter), kept(chances[DEALER], starter)), pairs)


def kept(chances: np.ndarray, starter: int) -> np.ndarray:
    """(1820,) how often each hand is kept beside a starter: 1 in the mean, if all choices of a kind add up to 1.

    Args:
        chances: (C,) of :func:`by_choice`.
        starter: its rank.
    """
    kinds = sixes()
    deals = WAYS[4 - (np.arange(N_RANKS) == starter), kinds.counts].prod(axis=1)
    found = np.bincount(kinds.kept, chances * deals[kinds.six], N_FOURS)
    return found * (N_FOURS / deals.sum())


@kernel
def fill_hands(chances, made, groups, six, starter, kinds, ways, hands):
    """Fills ``hands`` (G, 1820) with in how many deals a player holds each hand beside a starter and six known cards,
    by the group of its discards.

    Args:
        chances: (C,) of :func:`by_choice`; ``made`` lists those above 0.
        groups: (C,) int8 of its choices.
        six: the kind of the known cards.
        starter: its rank, of which fewer than four are known.
        ways: (K,) float64, to work in.
    """
    left = np.empty(N_RANKS, np.int64)
    for rank in range(N_RANKS):
        left[rank] = 4 - kinds.counts[six, rank] - (rank == starter)
    fill_ways(kinds.parts, left, ways)
    hands[:, :] = 0
    for choice in made:
        hands[groups[choice], kinds.kept[choice]] += chances[choice] * ways[kinds.six[choice]]
