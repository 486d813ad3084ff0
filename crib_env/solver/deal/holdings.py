"""What players hold after their discards: hands of four ranks, and which hands meet.

Neither holds what the other has discarded, and both discard by what they were dealt. So pairs of hands are counted over
all deals: of six cards each and a starter, by rank.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crib_env.engine import DEALER, PONE
from crib_env.exact.deal_classes import class_sizes
from crib_env.hands import N_FOURS, N_RANKS
from crib_env.kernels import kernel
from crib_env.solver import in_stretches
from crib_env.solver.deal.shows import choices
from crib_env.solver.deal.sixes import N_PAIRS, WAYS, fill_ways, sixes
from crib_env.solver.pairs import fitted_weights

_AT_ONCE = 128  # kinds of six, whose 13 MB stay in the processor's cache


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
    :func:`meetings` is exact.

    Args:
        chances: (C,) by role, of :func:`by_choice`.
        starter: its rank.
        pairs: (1820, 1820) of :func:`crib_env.solver.pairs.pairs_dealt`.
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


def meetings(chances: np.ndarray, of_other: np.ndarray, counted: np.ndarray, threads: int = 2) -> np.ndarray:
    """(13, 1820, 1820) float32 in how many deals hands meet, by the starter's rank, the own hand and the other role's
    hand; on a scale of its own for each own hand.

    A hand that is never kept is counted as if it always were.

    Args:
        chances: (C,) how likely a role makes each choice, of :func:`by_choice`.
        of_other: (C,) the same of the other role.
        counted: (13, C) by the starter's rank, which of the role's choices are counted.
        threads: how many; they do not change the result.
    """
    kinds, made = sixes(), of_other.nonzero()[0]
    is_kept = np.array([np.bincount(kinds.kept, chances * these, N_FOURS) > 0 for these in counted])
    own = np.where(is_kept[:, kinds.kept], chances, 1) * counted * kinds.ways()[kinds.six]
    found = np.zeros((N_RANKS, N_FOURS, N_FOURS), np.float32)
    others = np.zeros((_AT_ONCE, 1 + N_RANKS, N_FOURS), np.float32)

    def fill(first: int, last: int) -> None:
        _fill_others(of_other, made, kinds, start + first, start + last, others[first:])

    def add(first: int, last: int) -> None:
        _add_meetings(own, kinds, start, stop, others, first, last, found)

    for start in range(0, len(kinds.counts), _AT_ONCE):
        stop = min(start + _AT_ONCE, len(kinds.counts))
        in_stretches(stop - start, threads, fill)
        in_stretches(N_FOURS, threads, add)
    return found


@kernel
def _fill_others(chances, made, kinds, first, last, out):
    """Beside each kind of six from ``first`` to ``last - 1``: in how many deals the other keeps each hand, ``out[:,
    0]`` (n, 1820), and how many cards of each rank it was dealt then, summed, ``out[:, 1:]`` (n, 13, 1820)."""
    ways, left = np.empty(len(kinds.parts)), np.empty(N_RANKS, np.int64)
    for six in range(first, last):
        for rank in range(N_RANKS):
            left[rank] = 4 - kinds.counts[six, rank]
        fill_ways(kinds.parts, left, ways)
        here = out[six - first]
        here[:, :] = np.float32(0)
        for choice in made:
            other, hand = kinds.six[choice], kinds.kept[choice]
            deals = np.float32(chances[choice] * ways[other])
            if deals > 0:
                here[0, hand] += deals
                for k in range(6):
                    rank, n = kinds.parts[other, k, 0], kinds.parts[other, k, 1]
                    if n == 0:
                        break
                    here[1 + rank, hand] += np.float32(n) * deals


@kernel
def _add_meetings(own, kinds, start, stop, others, first, last, found):
    """Adds the deals in which hands ``first`` to ``last - 1`` are kept of kinds ``start`` to ``stop - 1``. A starter of
    some rank is cut in as many ways as cards of it are left."""
    for hand in range(first, last):
        for two in range(N_PAIRS):
            choice = kinds.choice[hand, two]
            if choice < 0 or not start <= kinds.six[choice] < stop:
                continue
            here = others[kinds.six[choice] - start]
            for starter in range(N_RANKS):
                left = np.float32(4 - kinds.counts[kinds.six[choice], starter])
                deals = np.float32(own[starter, choice])
                if left > 0 and deals > 0:
                    for other in range(N_FOURS):
                        found[starter, hand, other] += deals * (left * here[0, other] - here[1 + starter, other])
