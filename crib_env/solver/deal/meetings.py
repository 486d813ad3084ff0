"""Which hands meet after both players have discarded, beside a starter.

Neither holds what the other has discarded, and both discard by what they were dealt. So pairs of hands are counted over
all deals: of six cards each and a starter, by rank.
"""

from __future__ import annotations

import numpy as np

from crib_env.hands import N_FOURS, N_RANKS
from crib_env.kernels import kernel
from crib_env.solver.deal.sixes import N_PAIRS, fill_ways, sixes
from crib_env.solver.in_threads import in_stretches

_AT_ONCE = 128  # kinds of six, whose 13 MB stay in the processor's cache


def meetings(chances: np.ndarray, of_other: np.ndarray, counted: np.ndarray, threads: int = 2) -> np.ndarray:
    """(13, 1820, 1820) float32 in how many deals hands meet, by the starter's rank, the own hand and the other role's
    hand; on a scale of its own for each own hand.

    A hand that is never kept is counted as if it always were.

    Args:
        chances: (C,) how likely a role makes each choice, see :func:`crib_env.solver.deal.holdings.by_choice`.
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
