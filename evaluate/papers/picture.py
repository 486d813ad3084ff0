"""The shares of games that papers print, beside ours, as a picture."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.figure import Figure

from crib_env.evaluate.figures import BLUE, GREY, new_figure
from crib_env.evaluate.papers.markdown import Outcomes
from crib_env.evaluate.papers.run import PAPERS


class Compared(NamedTuple):
    """A claim in the picture: its paper, what it says, the paper's range, ours, and our value."""

    paper: str
    says: str
    theirs: tuple[float, float]
    ours: tuple[float, float]
    value: float


def compared_shares(outcomes: Outcomes) -> list[Compared]:
    """The claims in the picture: printed shares that were measured on a sample."""
    rows = []
    for name, of_paper in outcomes.items():
        author = PAPERS[name].title.partition(":")[0]
        for claim, measured in ((outcome.claim, outcome.measured) for outcome in of_paper):
            published = claim.published
            if measured is None or measured.interval is None or not claim.form.endswith("%}"):
                continue
            if published.is_number:
                rows.append(
                    Compared(author, claim.says, (published.low, published.high), measured.interval, measured.value)
                )
    return rows


def draw_shares(rows: list[Compared], when: str) -> Figure:
    """A line for each claim, under the name of its paper: the paper's range in grey, ours in blue; below, the days."""
    lines: list[Compared | str] = []
    for row in rows:
        if row.paper not in lines:
            lines.append(row.paper)
        lines.append(row)
    figure = new_figure(10, 1 + 0.22 * len(lines))
    axes = figure.subplots()
    for y, line in enumerate(lines):
        if isinstance(line, str):
            continue
        for (low, high), colour, width in ((line.theirs, GREY, 7), (line.ours, BLUE, 3)):
            axes.plot([100 * low, 100 * high], [y, y], color=colour, lw=width, solid_capstyle="butt")
        axes.plot(100 * line.value, y, "o", color=BLUE, ms=4)
    axes.set_yticks(range(len(lines)), [line if isinstance(line, str) else line.says for line in lines], fontsize=7)
    for line, label in zip(lines, axes.get_yticklabels()):
        if isinstance(line, str):
            label.set_fontweight("bold")
    axes.set(xlabel="games won, %; grey: the paper's range, blue: ours", xlim=(-2, 102), ylim=(len(lines) - 0.4, -0.6))
    axes.grid(axis="x", lw=0.4)
    figure.text(0.002, 0.004, when, ha="left", va="bottom", fontsize=6, color="#666666")
    return figure
