"""The learning curve of a run as a picture: strength against the baselines over episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evaluate.figures import BLUE, GREY, RED, new_figure, number_ticks, save_figure
from evaluate.runs.format import LEARNING_CURVE, band_of, margin_tag, win_rate_tag
from evaluate.runs.learning_curves import read_scalars

_COLOURS = {"random": BLUE, "greedy": RED}


def draw_learning_curve(folder: Path, title: str, baselines: Sequence[str]) -> Path:
    """Draws win rates with their 95 % intervals as ``learning-curve.png`` and ``.svg`` into a run folder.

    Returns:
        The path of the PNG.
    """
    figure, axes = _curves(folder, baselines, win_rate_tag, 100)
    axes.axhline(50, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="episodes", ylabel="games won, %, with 95 % interval", title=title, ylim=(0, 100))
    axes.legend(loc="lower right")
    return _saved(figure, folder)


def draw_points_curve(folder: Path, title: str, baselines: Sequence[str]) -> Path:
    """The same with net points a game in place of win rates."""
    figure, axes = _curves(folder, baselines, margin_tag, 1)
    axes.axhline(0, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="episodes", ylabel="net points a game, with 95 % interval", title=title)
    axes.legend(loc="best")
    return _saved(figure, folder)


def _curves(folder: Path, baselines: Sequence[str], tag_of: Callable[[str], str], scale: float) -> tuple[Figure, Axes]:
    """A curve with its band for each baseline, in units of 1 / ``scale``."""
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    for name in baselines:
        tag = tag_of(name)
        steps, means = read_scalars(folder, tag)
        low, high = ([scale * value for value in read_scalars(folder, end)[1]] for end in band_of(tag))
        axes.plot(steps, [scale * value for value in means], color=_COLOURS[name], label=f"against {name}")
        axes.fill_between(steps, low, high, color=_COLOURS[name], alpha=0.25, lw=0)
    number_ticks(axes.xaxis)
    return figure, axes


def _saved(figure: Figure, folder: Path) -> Path:
    path = folder / LEARNING_CURVE
    save_figure(figure, path)
    return path
