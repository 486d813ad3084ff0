"""The exact mean of a show over the starters that may still be cut."""

from __future__ import annotations

import numpy as np

from crib_env.cards import JACK
from crib_env.kernels import kernel, lowest, popcount
from crib_env.scoring import SUIT, add_rank, rank_points


@kernel
def show_total(four, seen, crib):
    """Points of four cards, summed over every starter that is not among the ``seen`` (masks; the four are seen)."""
    counts, sums = np.int64(0), np.int64(1)
    rest = four
    while rest:
        counts, sums = add_rank(counts, sums, lowest(rest) % 13)
        rest &= rest - 1
    total = np.int64(0)
    for rank in range(13):
        unseen = 4
        for suit in range(4):
            unseen -= (seen >> (13 * suit + rank)) & 1
        more_counts, more_sums = add_rank(counts, sums, rank)
        total += unseen * rank_points(more_counts, more_sums)
    for suit in range(4):
        unseen_suit = 13 - popcount(seen & (SUIT << (13 * suit)))
        if four & (SUIT << (13 * suit)) == four:  # flush: five with a starter of the suit, else four in a hand only
            total += 5 * unseen_suit
            if not crib:
                total += 4 * (52 - popcount(seen) - unseen_suit)
        if (four >> (13 * suit + JACK)) & 1:
            total += unseen_suit  # his nobs
    return total


@kernel
def mean_show(four, seen, crib):
    """:func:`show_total` for each starter."""
    return show_total(four, seen, crib) / (52 - popcount(seen))
