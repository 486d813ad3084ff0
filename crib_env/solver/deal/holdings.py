"""What a player may hold after its discards: hands of four ranks beside the cards that somebody else sees."""

from __future__ import annotations

import numpy as np

from crib_env.hands import FOURS, N_FOURS, N_RANKS, ORDERINGS
from crib_env.kernels import kernel
from crib_env.solver.deal.sixes import WAYS, Sixes, fill_ways

_RANKS_OF_FOUR = (FOURS[:, :, None] == np.arange(N_RANKS)).sum(axis=1)
_TWO_OTHERS = 47 * 46 / 2  # sets of two cards, beside four and the starter


def by_choice(chances: np.ndarray, of_class: np.ndarray, sizes: np.ndarray, kinds: Sixes) -> np.ndarray:
    """(C,) how likely each choice is made, if its kind is dealt, in the mean over all suits.

    Args:
        chances: (962988, 15) how likely each discard of a class is made.
        of_class: (962988, 15), ``choice`` of :class:`crib_env.solver.deal.shows.Choices`.
        sizes: (962988,) how many deals each class stands for.
    """
    found = np.zeros(len(kinds.six))
    _add_chances(chances, of_class, sizes, found)
    found /= kinds.ways()[kinds.six]
    return found


@kernel
def _add_chances(chances, of_class, sizes, found):
    for c in range(len(chances)):
        for k in range(chances.shape[1]):
            found[of_class[c, k]] += chances[c, k] * sizes[c]


def hand_weights(chances: np.ndarray, starter: int, kinds: Sixes) -> np.ndarray:
    """(1820,) the weights of a player's hands beside a starter, for :class:`crib_env.solver.play_game.PlayGame`.

    Each is the chance that a player who is dealt four cards, and any two of the other 47, keeps these four. The cards
    that the opponent holds are left out of this, so what one player discards does not change what the other has.

    Args:
        chances: (C,) of :func:`by_choice`.
        starter: its rank.
    """
    left = 4 - (np.arange(N_RANKS) == starter)
    deals = WAYS[left, kinds.counts].prod(axis=1)
    kept = np.bincount(kinds.kept, chances * deals[kinds.six], N_FOURS)
    of_four = WAYS[left, _RANKS_OF_FOUR].prod(axis=1)
    return np.divide(kept, of_four * _TWO_OTHERS, out=np.zeros(N_FOURS), where=of_four > 0) * ORDERINGS[4]


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
