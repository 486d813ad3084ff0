"""O'Connor (2000), "Temporal Difference Reinforcement Learning Applied to Cribbage".

All figures are in the section "Discussion". The three players of the discard game score less there than by the
rules, by 0.07, 0.19 and 0.19 points; if neither his nobs nor flushes are counted, all three score as printed. So
his networks' 7.3 to 7.6 points are on a scale that ends at 8.07, where ours end at 8.29.
"""

from __future__ import annotations

import numpy as np

from crib_env.cards import JACK
from crib_env.evaluate.makers.papers.measures import Effort, Measure, Measured, exact, mean_of, summary_of, trained
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, cards_of, class_sizes
from crib_env.exact.discard_means import STARTERS
from crib_env.kernels import bit, kernel, mask_of
from crib_env.scoring import SUIT, show_points

PLAYERS = ("random", "ideal", "cheating")
_CHUNK = 4_096  # hands


@kernel
def _flush(kept, starter):
    for suit in range(4):
        if kept & (SUIT << (13 * suit)) == kept:
            return 5 if starter // 13 == suit else 4
    return 0


@kernel
def fill_totals(hands, nobs, flushes, out):
    """Fills ``out`` (N, 3), by ``PLAYERS``: points of six cards (N, 6) over 46 starters; for random, 15 times them.

    A show counts fifteens, pairs and runs, and ``nobs`` and ``flushes`` if they are true.
    """
    for n in range(len(hands)):
        six = mask_of(hands[n])
        best = np.zeros(52, np.int64)  # when the starter is known
        out[n] = 0
        for i in range(6):
            for j in range(i + 1, 6):
                kept = six ^ bit(hands[n, i]) ^ bit(hands[n, j])
                total = np.int64(0)
                for starter in range(52):
                    if (six >> starter) & 1:
                        continue
                    points = show_points(kept, starter, False)
                    if not nobs:
                        points -= (kept >> (13 * (starter // 13) + JACK)) & 1
                    if not flushes:
                        points -= _flush(kept, starter)
                    best[starter] = max(best[starter], points)
                    total += points
                out[n, 0] += total
                out[n, 1] = max(out[n, 1], total)
        out[n, 2] = best.sum()


def mean_points(player: str, nobs: bool, flushes: bool) -> Measure:
    """Points a hand: exact over all deals when the sample is all classes of them, else over random deals."""

    def measure(effort: Effort) -> Measured:
        whole = effort.n == N_CLASSES
        sizes = class_sizes()
        rows = np.arange(N_CLASSES)
        if not whole:
            rows = np.random.default_rng(effort.seed).choice(N_CLASSES, effort.n, p=sizes / N_DEALS)
        column = PLAYERS.index(player)
        points = np.empty(len(rows), np.int64)
        for first in range(0, len(rows), _CHUNK):
            hands = cards_of(rows[first : first + _CHUNK])
            totals = np.empty((len(hands), len(PLAYERS)), np.int64)
            fill_totals(hands, nobs, flushes, totals)
            points[first : first + len(hands)] = totals[:, column]
        scale = STARTERS * (15 if player == "random" else 1)
        if whole:
            return exact((points * sizes).sum() / N_DEALS / scale, "exact, all deals")
        return mean_of(points / scale, f"{effort.n:,} deals, every starter")

    return measure


def discard_network(effort: Effort) -> Measured:
    """Points a hand of the trained network, as its training has measured them."""
    result = summary_of(trained(effort))["strength"]
    low, high = result["interval"]
    return Measured(result["mean"], (low, high), f"{result['hands']:,} deals")
