"""The learning curve of a run as a picture: strength against the baselines over episodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evaluate.figures import BLUE, GREY, RED, new_figure, number_ticks, save_figure
from evaluate.runs.format import LEARNING_CURVE, band_of, margin_tag, win_rate_tag
from evaluate.runs.learning_curves import read_scalars

_COLOURS = {"random": BLUE, "greedy": RED}


def draw_learning_curve(folder: Path, title: str, baselines: Sequence[str]) -> Path:
    """Draws win rates with their 95 % intervals as ``learning-curve.png`` and ``.svg`` into a run folder.

    Each baseline has a panel of its own, with an axis as wide as its rates: some are near 99 %, others near 50 %.

    Returns:
        The path of the PNG.
    """
    figure = new_figure(3.6 * len(baselines), 3.2)
    for axes, name in zip(figure.subplots(1, len(baselines), squeeze=False)[0], baselines):
        _draw(axes, folder, name, win_rate_tag(name), 100)
        axes.set(xlabel="episodes", title=f"against {name}")
    figure.axes[0].set_ylabel("games won, %, with 95 % interval")
    figure.suptitle(title)
    return _saved(figure, folder)


def draw_points_curve(folder: Path, title: str, baselines: Sequence[str]) -> Path:
    """The same with net points a game in place of win rates."""
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    for name in baselines:
        _draw(axes, folder, name, margin_tag(name), 1)
    axes.axhline(0, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="episodes", ylabel="net points a game, with 95 % interval", title=title)
    axes.legend(loc="best")
    return _saved(figure, folder)


def _draw(axes: Axes, folder: Path, name: str, tag: str, scale: float) -> None:
    """A curve with its band, in units of 1 / ``scale``."""
    steps, means = read_scalars(folder, tag)
    low, high = ([scale * value for value in read_scalars(folder, end)[1]] for end in band_of(tag))
    axes.plot(steps, [scale * value for value in means], color=_COLOURS[name], label=f"against {name}")
    axes.fill_between(steps, low, high, color=_COLOURS[name], alpha=0.25, lw=0)
    number_ticks(axes.xaxis)


def _saved(figure: Figure, folder: Path) -> Path:
    path = folder / LEARNING_CURVE
    save_figure(figure, path)
    return path
