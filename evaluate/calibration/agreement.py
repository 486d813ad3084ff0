"""How well what is stated agrees with what is played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluate.calibration.making import BANDS, RANKS, AtScores, OfDiscards
from evaluate.statistics import Z, half_width, mean_interval, student_quantile


class Estimate(NamedTuple):
    """A value with half of its 95 % interval."""

    value: float
    half_width: float


class AgreementOfScores(NamedTuple):
    """Over pairs of scores."""

    rms: float
    """Root of the mean square of played less stated."""
    furthest: float
    covered: float
    """Share of the pairs whose difference is within the 95 % interval of the statement and the games together."""


class AgreementOfLosses(NamedTuple):
    """Over the positions of a band: what a discard loses against the best, in chance to win."""

    slope: Estimate
    """Of the loss as played, by the loss as stated."""
    difference: Estimate
    """The mean of the loss as stated less as played."""
    positions: int


def agreement_of_scores(rows: Sequence[AtScores], games: int) -> AgreementOfScores:
    """Of pairs of scores with so many games each."""
    stated, error, played = (np.array([row[k] for row in rows]) for k in (2, 3, 4))
    off = np.abs(played - stated)
    within = Z * np.sqrt(error**2 + stated * (1 - stated) / games)
    return AgreementOfScores(float(np.sqrt((off**2).mean())), float(off.max()), float((off <= within).mean()))


def losses(rows: Sequence[OfDiscards], rank: int) -> tuple[np.ndarray, np.ndarray]:
    """What the second (``rank`` 0) or the fourth discard (1) loses, as stated (P,) and as played (P,)."""
    stated, played = np.array([row.stated for row in rows]), np.array([row.played for row in rows])
    return stated[:, 0] - stated[:, 1 + rank], played[:, 0] - played[:, 1 + rank]


def in_band(rows: Sequence[OfDiscards], band: tuple[int, int]) -> list[OfDiscards]:
    """The positions whose higher score is in a band."""
    return [row for row in rows if band[0] <= max(row.own, row.opponents) <= band[1]]


def agreement_of_losses(stated: np.ndarray, played: np.ndarray) -> AgreementOfLosses:
    """Of losses (P,), by least squares; the interval of the slope allows for noise that differs between positions.

    Raises:
        ValueError: there are fewer than three.
    """
    n = len(stated)
    if n < 3:
        raise ValueError(f"{n} positions are too few: give at least 3")
    about = stated - stated.mean()
    spread = about @ about
    slope = about @ played / spread
    left = played - played.mean() - slope * about
    error = np.sqrt((about**2 * left**2).sum()) / spread * np.sqrt(n / (n - 2))
    differs = stated - played
    return AgreementOfLosses(
        Estimate(float(slope), float(student_quantile(n - 2) * error)),
        Estimate(float(differs.mean()), half_width(mean_interval(differs))),
        n,
    )


def each_band(rows: Sequence[OfDiscards]) -> dict[tuple[tuple[int, int], int], AgreementOfLosses]:
    """The agreement by band and by discard (0 the second, 1 the fourth)."""
    return {
        (band, rank): agreement_of_losses(*losses(in_band(rows, band), rank))
        for band in BANDS
        for rank in range(len(RANKS))
    }
