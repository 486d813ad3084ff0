"""Discards by a weighted sum of Lang's eight strategies (Lang 2018, section 3.2)."""

from __future__ import annotations

import numpy as np

from crib_env.exact.discard_statistics import N_DISCARDS, TOTALS, fill_totals
from crib_env.kernels import kernel, lowest
from crib_env.tables.lang_strategies import STRATEGIES, fill_desirabilities

N_STRATEGIES = len(STRATEGIES)


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
    cards = np.empty((1, 6), np.int64)
    for k in range(6):
        cards[0, k] = lowest(six)
        six &= six - 1
    totals = np.zeros((1, N_DISCARDS), TOTALS)
    fill_totals(cards, totals)
    wanted = np.empty((N_STRATEGIES, N_DISCARDS))
    fill_desirabilities(totals[0], cards[0], pegging, wanted)
    values = np.zeros(N_DISCARDS)
    for strategy in range(N_STRATEGIES):
        for k in range(N_DISCARDS):
            values[k] += weights[strategy] * wanted[strategy, k]
    return cards, wanted, values
