"""The value of a discard: what is known exactly of it, and what tables have learned of the rest.

Known is the mean of the show, of four cards over the starters and of the crib beside random cards of the opponent
(:mod:`crib_env.exact.discard_means`). Learned is what these leave out: the pegging, and that the opponent's discards
are not random. It is a sum of two numbers, one for the four ranks kept and one for the two ranks discarded.
"""

from __future__ import annotations

import numpy as np

from crib_env.exact.discard_means import COMPLETIONS, HAND_SCALE, crib_total, hand_total
from crib_env.hands import N_FOURS, PAIR_NUMBER, hand_of_mask
from crib_env.kernels import bit, cards_in, kernel

_N_PAIRS = 91
N_LEARNED = 2 * N_FOURS + 4 * _N_PAIRS
"""Numbers learned: for both roles the hands kept, and the pairs discarded, of two suits and of one."""
N_PARTS = 2  # of what is learned of a discard


@kernel
def fill_discards(six, is_dealer, learned, pairs, cribs, values, places):
    """Fills the fifteen discards of six cards (a mask), ordered as :data:`crib_env.exact.discard_statistics.PLACES`.

    Args:
        is_dealer: 0 or 1.
        learned: (``N_LEARNED``,) float32 points.
        pairs: (15,) int64, the cards discarded, as masks.
        cribs: (15,) float64, the known mean of the crib, minus that as pone, points.
        values: (15,) float64, points.
        places: (15, ``N_PARTS``) int64, where the parts of ``learned`` stand.
    """
    cards = cards_in(six, 6)
    sign = 1 if is_dealer else -1
    k = 0
    for i in range(6):
        for j in range(i + 1, 6):
            pairs[k] = bit(cards[i]) | bit(cards[j])
            kept, is_one_suit = six ^ pairs[k], np.int64(cards[i] // 13 == cards[j] // 13)
            number = np.int64(PAIR_NUMBER[cards[i] % 13, cards[j] % 13])
            places[k, 0] = is_dealer * N_FOURS + hand_of_mask(kept)
            places[k, 1] = 2 * N_FOURS + (2 * is_dealer + is_one_suit) * _N_PAIRS + number
            cribs[k] = sign * crib_total(cards[i], cards[j], cards) / COMPLETIONS
            values[k] = HAND_SCALE * hand_total(kept, six) / COMPLETIONS + cribs[k]
            for part in range(N_PARTS):
                values[k] += learned[places[k, part]]
            k += 1
