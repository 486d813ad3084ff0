"""The figures of the suite as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from crib_env.evaluate.skill.suite.suite import Outcome
from crib_env.evaluate.skill.suite.task import Measured

_MOST_DIGITS = 4
_UNEVEN = 0.1  # difference between the ends of an interval, as a share of its half, from which on both are shown


def shown(figure: Measured) -> tuple[str, str]:
    """A figure, and how far its 95 % interval goes from there, in digits that mean something."""
    if figure.half_width is None:
        return (f"{figure.mean:,.0f}" if figure.mean >= 100 else f"{figure.mean:.3g}"), ""
    digits = 2
    if figure.half_width > 0:
        digits = min(max(1 - math.floor(math.log10(figure.half_width)), 0), _MOST_DIGITS)
    number, half = (f"{value:.{digits}f}" for value in (figure.mean, figure.half_width))
    if figure.interval is not None:
        below, above = figure.mean - figure.interval[0], figure.interval[1] - figure.mean
        if abs(above - below) > _UNEVEN * figure.half_width:
            return number, f"+{above:.{digits}f} −{below:.{digits}f}"
    return number, f"± {half}"


def figures_table(outcomes: Sequence[Outcome]) -> Table:
    """All figures: a section for each, in it a row for each agent."""
    table = Table(
        title="intervals of 95 %; lost chances to win in % points",
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    table.add_column("")
    for column in ("", "95 %", "of"):
        table.add_column(column, justify="right", no_wrap=True)
    for name in dict.fromkeys(name for outcome in outcomes for name in outcome.figures):
        table.add_row(f"[bold]{name}")
        for outcome in outcomes:
            if (figure := outcome.figures.get(name)) is not None:
                table.add_row(f"  {outcome.agent}", *shown(figure), f"{figure.sample:,}")
    without = [outcome for outcome in outcomes if not outcome.figures]
    if without:
        table.add_row("[bold]not measured")
        for outcome in without:
            table.add_row(f"  {outcome.agent}, {outcome.task}: {outcome.not_measured or outcome.failed}")
    return table
