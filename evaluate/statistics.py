"""Means and rates with their 95 % intervals, match points, and when a match may stop before its last game."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    def ratio(cls, totals: Sequence[float], counts: np.ndarray) -> Measured:
        """The sum of the totals of N games by that of their counts: decisions of one game need not be independent."""
        values = np.array(totals)
        rate = float(values.sum() / counts.sum())
        return cls(rate, cls.of((values - rate * counts) / counts.mean()).half_width, int(counts.sum()))

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
    """A win rate minus luck and its 95 % interval, both inside 0 to 1, of ``pairs`` (N,), 0, ½ or 1, and the same
    minus luck.

    The interval is Wilson's, for as many independent games as would vary as little. Their number is that of Student's t
    distribution, because a few pairs may show too small a spread. The interval of results with luck has no such
    correction: between the numbers with and without it, that of results with luck counts.
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


def match_points(scores: np.ndarray) -> np.ndarray:
    """ACC match points (N, 2) of games that ended with these scores (N, 2): 2 for a win, 3 with a skunk, else 0."""
    return np.where(scores >= WIN, 2 + (scores[:, ::-1] <= SKUNK), 0)


def looks(most: int, first: int = _FIRST_LOOK, growth: float = _GROWTH) -> Iterator[int]:
    """The numbers of pairs after which a match checks whether it may stop; the last is ``most``.

    They do not depend on speed. A match that stops at the first check at which its interval is within ± h has the true
    win rate within ± h of its own in 95 % of cases. Frequent checks do no harm, since stopping depends on the spread
    between pairs and not on who leads (a fixed-width rule: Chow and Robbins 1965); the tests show this by simulation.
    """
    pairs = first
    while pairs < most:
        yield pairs
        pairs = math.ceil(growth * pairs)
    yield most


class Narrow(NamedTuple):
    """Stop when the 95 % interval of the win rate lies within ``half`` of it; 0.005 is half a percentage point.

    Rules decide from ``pairs`` (N,), the share of each pair that ``a`` won, 0, ½ or 1, and ``less_luck`` (N,), the same
    minus luck, if luck was measured.
    """

    half: float

    def looks(self, most: int) -> Iterator[int]:
        """The numbers of pairs at which to decide."""
        return looks(most)

    def is_met(self, pairs: np.ndarray, less_luck: np.ndarray | None = None) -> bool:
        """Whether to stop after these pairs."""
        return reach(pairs, less_luck) <= self.half

    def verdict(self, pairs: np.ndarray, less_luck: np.ndarray | None = None) -> str:
        """In a line, what was asked for and what came out."""
        reached = reach(pairs, less_luck)
        short = "" if reached <= self.half else ": too few games"
        return f"asked for ±{self.half:.3%}, reached ±{reached:.3%}{short}"


_ERROR = 0.05  # chance of either wrong verdict
_BOUND = math.log((1 - _ERROR) / _ERROR)  # of the log-likelihood ratio
_SPRT_LOOKS = 24, 1.1  # pairs before the first look, and the factor from one to the next
_RARE = 0.001  # pairs of each result that are added, so that no win rate is impossible after equal pairs


class SprtResult(NamedTuple):
    """What a test has found after some pairs: ``accepted`` is ``elo0``, ``elo1``, or ``None`` if it is not decided."""

    elo0: float
    elo1: float
    log_likelihood_ratio: float
    bounds: tuple[float, float]
    pairs: int
    accepted: float | None


@dataclass(frozen=True)
class Sprt:
    """A sequential probability ratio test of two win rates, given as differences in Elo, the logistic scale.

    Each wrong verdict has a chance of 5 % at most, if the true difference is ``elo0`` or below, or ``elo1`` or above.
    The test is Wald's (1945). The games of a pair are not independent, so the ratio is that of the generalised test:
    between the likelihoods of the best distributions of a pair's result that have either win rate.
    """

    elo0: float
    elo1: float

    def __post_init__(self) -> None:
        if self.elo0 >= self.elo1:
            raise ValueError(f"sprt={self.elo0:g} {self.elo1:g} is not allowed: give the smaller difference first")

    def looks(self, most: int) -> Iterator[int]:
        """See :class:`Narrow`."""
        return looks(most, *_SPRT_LOOKS)

    def found(self, pairs: np.ndarray, less_luck: np.ndarray | None = None) -> SprtResult:
        """The state of the test after some pairs."""
        results = pairs if less_luck is None else less_luck
        values, counts = np.unique(np.append(results, (0, 0.5, 1)), return_counts=True)
        weights = counts - (1 - _RARE) * np.isin(values, (0, 0.5, 1))
        of_0, of_1 = (_log_likelihood(values - 1 / (1 + 10 ** (-elo / 400)), weights) for elo in (self.elo0, self.elo1))
        ratio = of_1 - of_0
        accepted = self.elo1 if ratio >= _BOUND else self.elo0 if ratio <= -_BOUND else None
        return SprtResult(self.elo0, self.elo1, ratio, (-_BOUND, _BOUND), len(pairs), accepted)

    def is_met(self, pairs: np.ndarray, less_luck: np.ndarray | None = None) -> bool:
        """See :class:`Narrow`."""
        return self.found(pairs, less_luck).accepted is not None

    def verdict(self, pairs: np.ndarray, less_luck: np.ndarray | None = None) -> str:
        """See :class:`Narrow`."""
        found = self.found(pairs, less_luck)
        end = "not decided" if found.accepted is None else f"Elo {found.accepted:g} is accepted"
        return (
            f"sequential test of Elo {self.elo0:g} against {self.elo1:g}: {end}. Log-likelihood ratio "
            f"{found.log_likelihood_ratio:+.2f}, bounds ±{_BOUND:.2f}, {found.pairs:,} pairs. "
            "Where such a test stops, the win rate is biased."
        )


StoppingRule = Narrow | Sprt


def _log_likelihood(values: np.ndarray, weights: np.ndarray) -> float:
    """The largest log-likelihood of a distribution on these values (M,) with mean 0, but for a constant.

    Its probabilities are ``weights / (1 + t * values)``, up to a factor; ``t`` is found by Newton's method.

    Args:
        values: some below 0 and some above.
        weights: (M,) how often each was observed.
    """
    low, high = -1 / values.max(), -1 / values.min()
    t, step = 0.0, math.inf
    while abs(step) > 1e-9 * (high - low):
        shares = values / (1 + t * values)
        slope = float((weights * shares).sum())
        low, high = (t, high) if slope > 0 else (low, t)
        better = t + slope / float((weights * shares**2).sum())
        step = (better if low < better < high else (low + high) / 2) - t
        t += step
    return float(-(weights * np.log1p(t * values)).sum())
