"""Lang's eight strategies: the desirability of each of the fifteen discards by one criterion (Lang 2018, section 3).

Each strategy ranks the discards of six cards by one number, and scales it linearly so that the best has 1 and the
worst 0. If all fifteen are equal, all have 1. The numbers of hand and crib are exact (the crib's over uniformly
random opposing discards); those of the play come from pegging records.
"""

from __future__ import annotations

import numpy as np

from crib_env.cards import RANKS
from crib_env.engine import ROLES
from crib_env.exact.discard_statistics import N_DISCARDS, TOTALS, fill_totals
from crib_env.hands import FOURS, hand_of_mask
from crib_env.kernels import bit, cards_in, kernel, mask_of
from crib_env.tables.shipped import GAINED, GIVEN, PeggingRecords

STRATEGIES = (
    "hand_max_min",
    "hand_max_avg",
    "hand_max_med",
    "hand_max_poss",
    "crib_min_avg",
    "pegging_max_avg_gained",
    "pegging_max_med_gained",
    "pegging_min_avg_given",
)
N_STRATEGIES = len(STRATEGIES)


@kernel
def fill_desirabilities(totals, cards, pegging, out):
    """Fills ``out`` (8, 15) for one hand.

    Args:
        totals: (15,) of ``discard_statistics.TOTALS``, from ``fill_totals``.
        cards: (6,) the hand, sorted ids.
        pegging: (1820, 3) of the player's role, from :func:`pegging_values`.
        out: float64.
    """
    six = mask_of(cards)
    k = 0
    for i in range(6):
        for j in range(i + 1, 6):
            kept = hand_of_mask(six ^ bit(cards[i]) ^ bit(cards[j]))
            out[0, k] = totals[k]["hand_min"]
            out[1, k] = totals[k]["hand_total"]
            out[2, k] = totals[k]["hand_twice_median"]
            out[3, k] = totals[k]["hand_max"]
            out[4, k] = -np.float64(totals[k]["crib_total"])
            out[5, k] = pegging[kept, 0]
            out[6, k] = pegging[kept, 1]
            out[7, k] = -pegging[kept, 2]
            k += 1
    for strategy in range(N_STRATEGIES):
        _scale(out[strategy])


@kernel
def _scale(values):
    """Scales the highest value to 1 and the lowest to 0; if all are equal, all become 1."""
    low, high = values.min(), values.max()
    for k in range(len(values)):
        values[k] = (values[k] - low) / (high - low) if high > low else 1.0


@kernel
def weigh_discards(six, weights, pegging):
    """The values of the fifteen discards of six cards for a player with these weights: ``weights @ S``.

    Args:
        six: mask of the cards dealt.
        weights: (8,) the weight of each strategy.
        pegging: (1820, 3) of the player's role, from ``lang_strategies.pegging_values``.

    Returns:
        The cards (1, 6) int64, sorted; S (8, 15), the desirabilities; values (15,), both float64.
    """
    cards = cards_in(six, 6).reshape(1, 6)
    totals = np.zeros((1, N_DISCARDS), TOTALS)
    fill_totals(cards, totals)
    wanted = np.empty((N_STRATEGIES, N_DISCARDS))
    fill_desirabilities(totals[0], cards[0], pegging, wanted)
    values = np.zeros(N_DISCARDS)
    for strategy in range(N_STRATEGIES):
        for k in range(N_DISCARDS):
            values[k] += weights[strategy] * wanted[strategy, k]
    return cards, wanted, values


def pegging_values(records: PeggingRecords) -> np.ndarray:
    """The statistics of pegging records that the strategies use: (2, 1820, 3) float64, by role and hand.

    The last axis is mean points gained, median points gained, mean points given.

    Raises:
        ValueError: the records hold no play of some class in some role; the message names it.
    """
    unknown = np.argwhere(records.n == 0)
    if len(unknown):
        role, kept = unknown[0]
        ranks = "-".join(RANKS[rank] for rank in FOURS[kept])
        raise ValueError(f"the records hold no play of {ranks} as {ROLES[role]}: simulate them first")
    mean, median = records.mean, records.median
    return np.stack([mean[..., GAINED], median[..., GAINED], mean[..., GIVEN]], axis=-1)
