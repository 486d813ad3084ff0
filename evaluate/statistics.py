"""Means and rates with their 95 % intervals, and match points."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from crib_env.engine import SKUNK, WIN
from crib_env.players.games import Z, independent_games, paired_rate_interval, wilson_interval

_FIRST_LOOK = 500  # pairs
_GROWTH = 1.25  # factor from one look to the next


def student_quantile(freedom: int) -> float:
    """97.5 % quantile of Student's t distribution with some degrees of freedom, 0.1 % off at most.

    From three degrees of freedom on it follows from that of the normal distribution by an expansion (Abramowitz and
    Stegun 1964, 26.7.5).
    """
    if freedom < 3:
        return (12.7062, 4.3027)[freedom - 1]
    terms = (
        Z,
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
        (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92_160,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """95 % interval of the mean of independent values (N,), by Student's t distribution."""
    n = len(values)
    error = student_quantile(n - 1) * float(np.std(values, ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    return float(np.mean(values)) - error, float(np.mean(values)) + error


class Measured(NamedTuple):
    """A figure with its 95 % interval: ``mean ± half_width``, unless ``interval`` has its ends."""

    mean: float
    half_width: float | None
    """``None`` if the figure is exact, or not the mean of a sample."""
    sample: int
    """Number of positions, decisions or games behind it."""
    interval: tuple[float, float] | None = None
    """Of a rate, which is not in its middle."""

    @classmethod
    def of(cls, values: np.ndarray) -> Measured:
        """The mean of independent values (N,)."""
        low, high = mean_interval(values)
        return cls(float(np.mean(values)), (high - low) / 2 if len(values) > 1 else None, len(values))

    @classmethod
    def percent(cls, hits: int, sample: int) -> Measured:
        """The share of a sample in percent, with Wilson's interval."""
        rate = 100 * hits / sample
        low, high = (100 * end for end in wilson_interval(hits / sample, sample))
        return cls(rate, (high - low) / 2, sample, (min(low, rate), max(high, rate)))  # rounding may leave the rate out


def half_width(interval: tuple[float, float]) -> float:
    """Half of the length of an interval."""
    return (interval[1] - interval[0]) / 2


def rate_less_luck(pairs: np.ndarray, less_luck: np.ndarray) -> tuple[float, tuple[float, float]]:
    """A win rate minus luck and its 95 % interval, both inside 0 to 1.

    The interval is Wilson's, for as many independent games as would vary as little. Their number is that of Student's t
    distribution, because a few pairs may show too small a spread. The interval of results with luck has no such
    correction: between the numbers with and without it, that of results with luck counts.

    Args:
        pairs: (N,) mean result of each pair of games: 0, ½ or 1.
        less_luck: (N,) the same minus luck. A mean outside 0 to 1 is moved to the nearest of them.
    """
    with_luck, n = float(np.mean(pairs)), len(pairs)
    games = independent_games(with_luck, less_luck)
    corrected = games * (Z / student_quantile(n - 1)) ** 2 if n > 1 else games
    _, games, _ = sorted((corrected, games, independent_games(with_luck, pairs)))
    rate = min(max(float(np.mean(less_luck)), 0.0), 1.0)
    return rate, wilson_interval(rate, games)


def rate_of_pairs(pairs: np.ndarray, less_luck: np.ndarray | None = None) -> tuple[float, tuple[float, float]]:
    """A win rate and its 95 % interval, minus luck where that is given; arguments as for :func:`rate_less_luck`."""
    if less_luck is None:
        return float(np.mean(pairs)), paired_rate_interval(pairs)
    return rate_less_luck(pairs, less_luck)


def reach(pairs: np.ndarray, less_luck: np.ndarray | None = None) -> float:
    """Distance from a win rate to the farther end of its 95 % interval; arguments as for :func:`rate_less_luck`."""
    rate, (low, high) = rate_of_pairs(pairs, less_luck)
    return max(high - rate, rate - low)


def looks(most: int, first: int = _FIRST_LOOK, growth: float = _GROWTH) -> Iterator[int]:
    """The numbers of pairs after which a match checks whether it may stop: 500, then a quarter more each time.

    A match that stops at the first check at which its interval is within ± h has the true win rate within ± h of its
    own in 95 % of cases. Frequent checks do no harm, since stopping depends on the spread between pairs and not on
    who leads (a fixed-width rule: Chow and Robbins 1965); the tests show this by simulation, lopsided matches included.

    Args:
        most: the number of pairs at the last check.
        first: the number at the first check.
        growth: the factor from one check to the next.
    """
    pairs = first
    while pairs < most:
        yield pairs
        pairs = math.ceil(growth * pairs)
    yield most


def match_points(scores: np.ndarray) -> np.ndarray:
    """ACC match points (N, 2) of games that ended with these scores (N, 2): 2 for a win, 3 with a skunk, else 0."""
    return np.where(scores >= WIN, 2 + (scores[:, ::-1] <= SKUNK), 0)
