"""A calibration in words, as a table and as a picture."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crib_env.cards import format_cards
from crib_env.evaluate.figures import BLUE, GREY, RED, new_figure
from crib_env.evaluate.tables.calibration.agreement import (
    Estimate,
    agreement_of_scores,
    each_band,
    each_band_of_cards,
    in_band,
    losses,
)
from crib_env.evaluate.tables.calibration.making import BANDS, JUDGES, Calibration
from crib_env.exact.discard_statistics import PLACES

_NAMES = ("second", "fourth")
CARDS_HEADER = ("score", "cards laid", "judge", "slope", "level", "its best", "square", "choices")
HEADER = ("higher score", "discard", "slope", "stated less played, % points", "positions")


def about_scores(found: Calibration) -> str:
    """How the win table agrees with games, as sentences."""
    at, plan = agreement_of_scores(found.scores), found.plan
    return (
        f"At {plan.pairs} pairs of scores, {plan.games:,} games each of `{plan.agent}` against itself, less luck, "
        f"the win table is {100 * at.rms:.2f} % points off (root of the mean square), and {100 * at.furthest:.2f} at "
        f"most. {at.covered:.0%} of the differences are within their 95 % interval."
    )


def about_discards(found: Calibration) -> str:
    """How far stated chances to win after a discard are from those played, as sentences."""
    off = [
        np.sqrt(np.mean([np.subtract(row.stated, row.played) ** 2 for row in in_band(found.discards, band)]))
        for band in BANDS
    ]
    bands = ", ".join(f"{100 * value:.1f} at {low} to {high}" for value, (low, high) in zip(off, BANDS))
    worst = max(found.discards, key=lambda row: np.abs(np.subtract(row.stated, row.played)).max())
    k = int(np.abs(np.subtract(worst.stated, worst.played)).argmax())
    pair = format_cards([worst.cards[place] for place in PLACES[worst.discards[k]]])
    return (
        f"The chance to win after a discard is off by {bands} (root of the mean square, % points; the noise of "
        f"{found.plan.deals:,} deals is in it). The furthest of all: "
        f"{'dealer' if worst.is_dealer else 'pone'} at {worst.own} to {worst.opponents} with "
        f"{format_cards(worst.cards)}, which discards {pair}: stated {worst.stated[k]:.1%}, played "
        f"{worst.played[k]:.1%}."
    )


def rows_of_losses(found: Calibration) -> list[list[str]]:
    """How stated losses agree with those played, a row for each band and discard; see ``HEADER``."""
    return [
        [
            f"{band[0]} to {band[1]}",
            _NAMES[rank],
            f"{fit.slope.value:.3f} ± {fit.slope.half_width:.3f}",
            _points(fit.difference),
            str(fit.positions),
        ]
        for (band, rank), fit in each_band(found.discards).items()
    ]


def rows_of_cards(found: Calibration) -> list[list[str]]:
    """How judges of the play agree with deals played out; see ``CARDS_HEADER``."""
    rows = []
    for band, is_early, judge, fit in each_band_of_cards(found):
        rows.append(
            [
                f"{band[0]} to {band[1]}",
                "under 3" if is_early else "3 or more",
                judge,
                f"{fit.slope.value:.3f} ± {fit.slope.half_width:.3f}",
                _points(fit.level),
                *(["", ""] if judge == JUDGES[0] else [_points(fit.best), _square(fit.excess)]),
                f"{fit.choices:,}",
            ]
        )
    return rows


def _points(estimate: Estimate) -> str:
    """In percentage points."""
    return f"{100 * estimate.value:+.2f} ± {100 * estimate.half_width:.2f}"


def _square(estimate: Estimate) -> str:
    """In squares of percentage points."""
    return f"{1e4 * estimate.value:+.1f} ± {1e4 * estimate.half_width:.1f}"


def draw_calibration(found: Calibration) -> Figure:
    """Stated against played: chances to win at pairs of scores, and losses of discards by band."""
    figure = new_figure(10, 2.9)
    axes = figure.subplots(1, 1 + len(BANDS))
    stated, played = (np.array([row[k] for row in found.scores]) for k in (2, 4))
    _draw(axes[0], [(stated, played, BLUE, "")])
    axes[0].set(title=f"the dealer wins, {len(stated)} pairs of scores", ylabel="played, %")
    for place, band in zip(axes[1:], BANDS):
        rows = in_band(found.discards, band)
        _draw(place, [(*losses(rows, rank), colour, _NAMES[rank]) for rank, colour in enumerate((BLUE, RED))])
        place.set(title=f"a discard loses, {band[0]} to {band[1]}")
        place.legend()
    figure.supxlabel("stated, %", fontsize="medium")
    return figure


def _draw(axes: Axes, groups: list[tuple[np.ndarray, np.ndarray, str, str]]) -> None:
    """Points beside the line where both are equal, of groups (stated, played, colour, name)."""
    ends = [100 * np.array([part.min(), part.max()]) for stated, played, *_ in groups for part in (stated, played)]
    low, high = np.min(ends), np.max(ends)
    axes.plot([low, high], [low, high], color=GREY, linewidth=1)
    for stated, played, colour, name in groups:
        axes.plot(100 * stated, 100 * played, ".", color=colour, label=name, markersize=4)
