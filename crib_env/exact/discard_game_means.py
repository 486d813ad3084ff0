"""Exact mean scores of three players of the discard game, over all deals and starters (O'Connor 2000)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np

from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, cards_of, class_sizes
from crib_env.exact.discard_means import STARTERS
from crib_env.exact.discard_statistics import N_DISCARDS
from crib_env.exact.discard_table import DiscardTable
from crib_env.kernels import bit, kernel, mask_of
from crib_env.scoring import show_points

# The result of discard_game_means.
EXACT_MEANS = {
    "random": Fraction(60_759, 12_740),  # 4.769
    "ideal": Fraction(11_422_361, 1_377_194),  # 8.294
    "cheating": Fraction(300_743_917, 33_446_140),  # 8.992
}
_CHUNK = 8_192  # classes


@kernel
def _fill_cheating(hands, out):
    """For each hand (N, 6): the sum over its 46 starters of the best show when the starter is known."""
    for n in range(len(hands)):
        cards = hands[n]
        six = mask_of(cards)
        out[n] = 0
        for starter in range(52):
            if (six >> starter) & 1:
                continue
            best = 0
            for i in range(6):
                for j in range(i + 1, 6):
                    kept = six ^ bit(cards[i]) ^ bit(cards[j])
                    best = max(best, show_points(kept, starter, False))
            out[n] += best


def discard_game_means(table: DiscardTable, threads: int = 2) -> dict[str, Fraction]:
    """Exact mean points of three players of the discard game.

    ``random`` discards any two cards, ``ideal`` keeps the four with the best mean, and ``cheating`` knows the starter.
    """
    sizes = class_sizes()
    deals = N_DEALS * STARTERS
    totals = table.totals["hand_total"].astype(np.int64)
    cheating = np.empty(N_CLASSES, np.int64)

    def fill(first: int) -> None:
        rows = np.arange(first, min(first + _CHUNK, N_CLASSES))
        _fill_cheating(cards_of(rows), cheating[rows[0] : rows[-1] + 1])

    fill(0)  # compiles before the threads start
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(0, N_CLASSES, _CHUNK)))
    return {
        "random": Fraction(int((totals.sum(axis=1) * sizes).sum()), deals * N_DISCARDS),
        "ideal": Fraction(int((totals.max(axis=1) * sizes).sum()), deals),
        "cheating": Fraction(int((cheating * sizes).sum()), deals),
    }
