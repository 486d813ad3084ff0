"""Means over hands of four ranks, smoothed over hands that play alike."""

from __future__ import annotations

import numpy as np

from crib_env.hands import FOURS
from crib_env.scoring import card_value
from crib_env.tables.pegging import GAINED, GIVEN, N_BINS
from crib_env.tables.standard import standard_pegging

_VALUES = np.array([card_value(rank) for rank in range(13)])


def _likeness(role: int) -> np.ndarray:
    """(1820, F) what matters of four ranks in the play, each feature with mean 0 and standard deviation 1."""
    ranks = FOURS.astype(np.int64)
    values, counts = _VALUES[ranks], (ranks[:, :, None] == np.arange(13)).sum(axis=1)
    a, b = np.triu_indices(4, 1)
    apart, sums = np.abs(ranks[:, a] - ranks[:, b]), values[:, a] + values[:, b]
    play = standard_pegging().distribution[role]
    means = play @ np.arange(N_BINS)
    low = (values <= 4).sum(axis=1)
    features = [
        *counts.T,
        *(
            (values == 10).sum(axis=1),
            low,
            low > 0,
            low > 1,
            values.sum(axis=1),
            values.min(axis=1),
            values.max(axis=1),
        ),
        *((apart == 0).sum(axis=1), ((apart == 1) | (apart == 2)).sum(axis=1)),
        *((sums == 15).sum(axis=1), (sums == 5).sum(axis=1)),
        *(means[:, GAINED], means[:, GIVEN], play[:, GAINED, 0], play[:, GIVEN, 0]),
    ]
    table = np.stack(features, axis=1).astype(float)
    table = table[:, table.std(axis=0) > 0]  # the dealer always makes a point, and pone always concedes one
    standard: np.ndarray = (table - table.mean(axis=0)) / table.std(axis=0)
    return standard


_LENGTHS = (3.0, 5.0, 8.0, 12.0)
_RATIOS = (0.03, 0.06, 0.12, 0.25, 0.5)  # standard deviation between hands over that between deals of a hand


def smoothed(means: np.ndarray, n: np.ndarray, role: int) -> np.ndarray:
    """Gaussian process regression of columns (1820, C), each with the length and the ratio of the highest likelihood.

    Args:
        means: (1820, C) the mean of each hand over its deals.
        n: (1820,) deals of each hand.
        role: of the player with the hand.
    """
    features = _likeness(role)
    squares = (features**2).sum(axis=1)
    seen = np.flatnonzero(n)
    distances = np.maximum(squares[:, None] + squares[seen] - 2 * features @ features[seen].T, 0)
    y, best = means[seen], np.full(means.shape[1], -np.inf)
    out = np.zeros_like(means)
    for length in _LENGTHS:
        alike = np.exp(-distances / (2 * length**2))
        for ratio in _RATIOS:
            covariance = ratio**2 * alike[seen] + np.diag(1 / n[seen])
            solved = np.linalg.solve(covariance, y)
            variance = (y * solved).mean(axis=0)
            likelihood = -0.5 * (len(seen) * np.log(variance + 1e-12) + np.linalg.slogdet(covariance)[1])
            better = likelihood > best
            best[better] = likelihood[better]
            out[:, better] = ratio**2 * alike @ solved[:, better]
    return out
