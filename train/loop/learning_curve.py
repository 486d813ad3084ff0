"""The learning curve of a run as a picture: strength against the baselines over episodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluate.figures import BLUE, GREY, RED, new_figure, number_ticks, save_figure
from evaluate.runs.format import LEARNING_CURVE, band_of, win_rate_tag
from evaluate.runs.learning_curves import read_scalars

_COLOURS = {"random": BLUE, "greedy": RED}


def draw_learning_curve(folder: Path, title: str, baselines: Sequence[str]) -> Path:
    """Draws win rates with their 95 % intervals as ``learning-curve.png`` and ``.svg`` into a run folder.

    Returns:
        The path of the PNG.
    """
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    for name in baselines:
        tag = win_rate_tag(name)
        steps, rates = read_scalars(folder, tag)
        low, high = (read_scalars(folder, end)[1] for end in band_of(tag))
        axes.plot(steps, [100 * rate for rate in rates], color=_COLOURS[name], label=f"against {name}")
        axes.fill_between(
            steps, [100 * rate for rate in low], [100 * rate for rate in high], color=_COLOURS[name], alpha=0.25, lw=0
        )
    axes.axhline(50, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="episodes", ylabel="games won, %, with 95 % interval", title=title, ylim=(0, 100))
    number_ticks(axes.xaxis)
    axes.legend(loc="lower right")
    path = folder / LEARNING_CURVE
    save_figure(figure, path)
    return path
