"""What the shipped tables add to the exact values of a discard: the opponent, the play and the rest of a game.

The value of a discard in points is the hand, plus or minus the crib, plus what the four cards gain in the play.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env.engine import DEALER, PONE
from crib_env.exact.discard_means import COMPLETIONS, STARTERS
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES, TOTALS, fill_totals
from crib_env.hands import hand_of_mask
from crib_env.kernels import bit, kernel, mask_of
from crib_env.tables.shipped import GAINED, GIVEN, WinTable, standard_cribs, standard_pegging, standard_win_table


class Outlook(NamedTuple):
    """The parts of the shipped tables that the kernels below need, as arrays; the first axis is by role."""

    cribs: np.ndarray
    """(2, 13, 13) the change in the crib's mean when the opponent discards with purpose, by ranks discarded."""
    hands: np.ndarray
    """(2, 5, 30) chances of the points that the *opponent* of this player shows, by its style of discarding."""
    style_cribs: np.ndarray
    """(2, 5) what each style adds to the crib's mean."""
    styles: np.ndarray
    """(2, 36, 36, 5) weights of the styles, of :class:`crib_env.tables.shipped.WinTable`."""
    pegging: np.ndarray
    """(2, 1820, 2, 61) chances of points gained and given in the play."""
    win_table: np.ndarray
    """(121, 121) the dealer's chance to win, by dealer's and pone's score."""
    late_hands: np.ndarray
    """(2, 1820, 12) of :class:`crib_env.tables.shipped.WinTable`."""
    late_scores: np.ndarray
    """(2, 36, 36, 12), too."""


@kernel
def tilt(chances, mean):
    """Multiplies probabilities by a power of their points, so that they have this mean."""
    power = 1.0
    for _ in range(50):  # Newton's method for the logarithm of the power, with steps limited so that it converges
        total, first, second, weight = 0.0, 0.0, 0.0, 1.0
        for points in range(len(chances)):
            total += chances[points] * weight
            first += chances[points] * weight * points
            second += chances[points] * weight * points * points
            weight *= power
        spread = second / total - (first / total) ** 2
        if spread < 1e-9:
            break
        step = min(max((mean - first / total) / spread, -0.5), 0.5)
        power *= np.exp(step)
        if abs(step) < 1e-12:
            break
    total, weight = 0.0, 1.0
    for points in range(len(chances)):
        chances[points] *= weight
        total += chances[points]
        weight *= power
    chances /= total


@kernel
def _tilt_all(chances, means):
    for n in range(len(means)):
        if not np.isnan(means[n]):
            tilt(chances[n], means[n])


def _with_means(chances: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Chances of points (..., 61), tilted so that they have these means (...); unchanged where the mean is NaN."""
    out = chances.copy()
    _tilt_all(out.reshape(-1, chances.shape[-1]), means.astype(np.float64).ravel())
    return out


@cache
def outlook(win_table: Path | None = None) -> Outlook:
    """The outlook of the standard tables, or with the win table of another file."""
    return outlook_of(standard_win_table() if win_table is None else WinTable.load(win_table))


def outlook_of(wins: WinTable) -> Outlook:
    """The outlook of the standard tables and a win table."""
    tables = standard_cribs()
    return Outlook(
        cribs=tables.mean - tables.against_random,
        hands=tables.hand_points[[DEALER, PONE], None] + wins.style_hands,  # of the other role
        style_cribs=wins.style_cribs.astype(np.float64),
        styles=wins.styles.astype(np.float64),
        pegging=_with_means(standard_pegging().distribution, wins.plays),
        win_table=wins.win_probability.astype(np.float64),
        late_hands=wins.late_hands.astype(np.float64),
        late_scores=wins.late_scores.astype(np.float64),
    )


class DiscardValues(NamedTuple):
    """The terms of the value that are not exact, in points."""

    cribs: np.ndarray
    """(2, 13, 13) by role and ranks discarded: how the crib's mean changes when the opponent discards with purpose."""
    pegging: np.ndarray
    """(2, 1820) by role and hand kept: points gained minus points given in the play."""


@cache
def standard_values() -> DiscardValues:
    """The values of the shipped tables."""
    plays = standard_win_table().plays
    mean = np.where(np.isfinite(plays), plays, standard_pegging().mean)
    return DiscardValues(outlook().cribs, np.ascontiguousarray(mean[..., GAINED] - mean[..., GIVEN]))


@kernel
def show_value(hand_total, crib_total, first, second, role, cribs):
    """Hand plus or minus crib: mean points of the show after a discard.

    Args:
        hand_total, crib_total: exact, of :mod:`crib_env.exact.discard_means`.
        first, second: the cards discarded.
        role: ``PONE`` or ``DEALER``.
        cribs: of :class:`DiscardValues`.
    """
    hand, crib = hand_total / STARTERS, crib_total / COMPLETIONS + cribs[role, first % 13, second % 13]
    return hand + crib if role == DEALER else hand - crib


@kernel
def _fill_points(sixes, is_dealer, totals, values, out):
    for n in range(len(sixes)):
        cards, role = sixes[n], DEALER if is_dealer[n] else PONE
        six = mask_of(cards)
        for k in range(N_DISCARDS):
            first, second, row = cards[PLACES[k, 0]], cards[PLACES[k, 1]], totals[n, k]
            show = show_value(row["hand_total"], row["crib_total"], first, second, role, values.cribs)
            out[n, k] = show + values.pegging[role, hand_of_mask(six ^ bit(first) ^ bit(second))]


def discard_points(sixes: np.ndarray, is_dealer: np.ndarray) -> np.ndarray:
    """(B, 15) net points of the deal by discard, the ``total`` of :func:`crib_env.analyse_discard`.

    Args:
        sixes: (B, 6) int64, each row sorted.
        is_dealer: (B,) bool.
    """
    totals, out = np.zeros((len(sixes), N_DISCARDS), TOTALS), np.empty((len(sixes), N_DISCARDS))
    fill_totals(sixes, totals)
    _fill_points(sixes, is_dealer, totals, standard_values(), out)
    return out
