"""When a match may stop before its last game: at a narrow interval, or at the end of a sequential test."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crib_env.evaluate.statistics import looks, reach


class Narrow(NamedTuple):
    """The 95 % interval of the win rate lies within ``half`` of it; 0.005 is half a percentage point.

    Rules decide at fixed numbers of pairs, so that they do not depend on speed: from ``pairs`` (N,), the share of each
    pair that ``a`` won, 0, ½ or 1, and ``less_luck`` (N,), the same minus luck, if luck was measured.
    """

    half: float

    def looks(self, most: int) -> Iterator[int]:
        """The numbers of pairs at which to decide; the last is ``most``."""
        return looks(most)

    def is_met(self, pairs: np.ndarray, less_luck: np.ndarray | None = None) -> bool:
        """Whether to stop after these pairs."""
        return reach(pairs, less_luck) <= self.half

    def verdict(self, pairs: np.ndarray, less_luck: np.ndarray | None = None) -> str:
        """In a line, what was asked for and what came out."""
        reached = reach(pairs, less_luck)
        return f"asked for ±{self.half:.3%}, reached ±{reached:.3%}" + (
            "" if reached <= self.half else ": too few games"
        )


_ERROR = 0.05  # chance of either wrong verdict
_BOUND = math.log((1 - _ERROR) / _ERROR)  # of the log-likelihood ratio
_FIRST_LOOK, _GROWTH = 24, 1.1  # pairs, and the factor from one look to the next
_RARE = 0.001  # pairs of each result that are added, so that no win rate is impossible after equal pairs


@dataclass(frozen=True)
class SprtResult:
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
        return looks(most, _FIRST_LOOK, _GROWTH)

    def log_likelihood_ratio(self, pairs: np.ndarray) -> float:
        """Of ``elo1`` against ``elo0``."""
        values, counts = np.unique(np.append(pairs, (0, 0.5, 1)), return_counts=True)
        weights = counts - (1 - _RARE) * np.isin(values, (0, 0.5, 1))
        of_0, of_1 = (_log_likelihood(values - 1 / (1 + 10 ** (-elo / 400)), weights) for elo in (self.elo0, self.elo1))
        return of_1 - of_0

    def found(self, pairs: np.ndarray, less_luck: np.ndarray | None = None) -> SprtResult:
        """The state of the test after some pairs."""
        ratio = self.log_likelihood_ratio(pairs if less_luck is None else less_luck)
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
