"""Results minus luck, by slopes fitted to the players at hand, without bias.

Luck as :mod:`crib_env.evaluate.skill.luck.variates` measures it is that of a game between equals. In a lopsided match a
point decides less, and to subtract all of this luck would add noise. So each result loses the slope times its luck,
with the slope of a regression of results on luck. Two precautions:

* **Without bias.** The slope for each sample comes from the other samples only (cross-fitting; Avramidis and Wilson
  1993). They are independent of this sample's luck, whose mean is zero, so slope times luck has mean zero too.
* **Without harm in small samples.** The regression is a ridge regression: it begins at the slope that the win rate p of
  the other samples suggests, and their luck changes it little by little. That slope is 4p (1 − p): as the strengths of
  two players move apart, a small advantage changes the chance to win in proportion to p (1 − p), and between equals the
  slope is 1. It is 0 where every game was won, and there nothing is subtracted.
"""

from __future__ import annotations

import numpy as np

from crib_env.evaluate.skill.luck.table import WINS

_VARIANCES = np.array([0.25, 20.0**2, 2.0**2])
"""Of ``RESULTS`` of a game between equals, rounded."""
_BEGINNING = 2 * _VARIANCES
"""The weight of the first slope, as a sum of squares of luck. It does not follow from the luck of the match: else the
few pairs in which near copies of one player differ could set any slope."""


def less_luck(results: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Results minus luck; the mean of each is that of the result, whoever plays.

    Args:
        results: (N, 3) ``RESULTS`` of N independent samples, such as pairs of mirrored games.
        luck: (N, 3) the luck in each of them.

    Returns:
        (N, 3) float64.
    """
    others = max(len(results) - 1, 1)
    results_of_others, luck_of_others = (values.sum(axis=0) - values for values in (results, luck))
    squares, products = (
        (luck * values).sum(axis=0) - luck * values - luck_of_others * of_others / others
        for values, of_others in ((luck, luck_of_others), (results, results_of_others))
    )
    win_rates = results_of_others[:, [WINS]] / others
    slopes = (products + _BEGINNING * 4 * win_rates * (1 - win_rates)) / (squares + _BEGINNING)
    return results - slopes * luck
