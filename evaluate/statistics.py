"""Means and rates with their 95 % intervals."""

from __future__ import annotations

import math

import numpy as np

Z = 1.959964  # 97.5 % quantile of the normal distribution


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """95 % interval of the mean of independent values (N,): mean ± 1.96 standard errors."""
    error = Z * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return float(np.mean(values)) - error, float(np.mean(values)) + error


def paired_rate_interval(pairs: np.ndarray) -> tuple[float, float]:
    """95 % interval of a win rate out of mirrored pairs of games.

    Two games over the same deals are not independent. The spread between pairs says how many independent games they
    are worth, and Wilson's interval is taken for that many; it stays inside [0, 1] and is never empty.

    Args:
        pairs: (N,) mean result of each pair of games: 0, ½ or 1.
    """
    rate, n = float(np.mean(pairs)), len(pairs)
    spread = float(np.var(pairs, ddof=1)) / n if n > 1 else 0.0
    games = rate * (1 - rate) / spread if spread > 0 else float(n)
    centre = (rate + Z * Z / (2 * games)) / (1 + Z * Z / games)
    half = Z / (1 + Z * Z / games) * math.sqrt(rate * (1 - rate) / games + Z * Z / (4 * games * games))
    return max(0.0, centre - half), min(1.0, centre + half)
