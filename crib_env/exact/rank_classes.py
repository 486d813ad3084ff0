"""Four kept cards by rank alone, since suits do not matter in the play: 1,820 classes.

The number of a class with ranks a <= b <= c <= d is C(a, 1) + C(b + 1, 2) + C(c + 2, 3) + C(d + 3, 4).
"""

from __future__ import annotations

import numpy as np

from crib_env.cards import ACES
from crib_env.kernels import kernel, popcount

N_RANK_CLASSES = 1_820

CLASS_RANKS = np.array(
    [(a, b, c, d) for d in range(13) for c in range(d + 1) for b in range(c + 1) for a in range(b + 1)]
)
"""(1820, 4) the ranks of each class, lowest first."""

CLASS_SIZES = np.array(
    [int(np.prod([(0, 4, 6, 4, 1)[n] for n in np.bincount(ranks, minlength=13) if n])) for ranks in CLASS_RANKS]
)
"""(1820,) how many sets of four cards each class stands for; 270,725 in all."""


@kernel
def rank_class_of_ranks(a, b, c, d):
    """The number of the class of four ranks, lowest first."""
    return a + (b + 1) * b // 2 + (c + 2) * (c + 1) * c // 6 + (d + 3) * (d + 2) * (d + 1) * d // 24


@kernel
def rank_class(kept):
    """The number of the class of four cards (a mask)."""
    number, k = np.int64(0), np.int64(0)
    for rank in range(13):
        for _ in range(popcount((kept >> rank) & ACES)):
            if k == 0:
                number += rank
            elif k == 1:
                number += (rank + 1) * rank // 2
            elif k == 2:
                number += (rank + 2) * (rank + 1) * rank // 6
            else:
                number += (rank + 3) * (rank + 2) * (rank + 1) * rank // 24
            k += 1
    return number
