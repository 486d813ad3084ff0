"""The learning curve of a run as a picture: strength against the baselines over episodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crib_env.evaluate.figures import BLUE, GREY, RED, new_figure, number_ticks, save_figure
from crib_env.evaluate.runs.format import LEARNING_CURVE, final_tag, margin_tag, read_config, win_rate_tag
from crib_env.evaluate.runs.learning_curves import Curve, draw_curve, read_points

_COLOURS = {"random": BLUE, "greedy": RED}


def draw_learning_curve(folder: Path, title: str, baselines: Sequence[str]) -> Path:
    """Draws win rates with their 95 % intervals as ``learning-curve.png`` and ``.svg`` into a run folder.

    Each baseline has a panel of its own, with an axis as wide as its rates: some are near 99 %, others near 50 %.

    Returns:
        The path of the PNG.
    """
    figure = new_figure(3.6 * len(baselines), 3.2)
    for axes, name in zip(figure.subplots(1, len(baselines), squeeze=False)[0], baselines):
        draw_tag(axes, folder, win_rate_tag(name), _COLOURS[name], "", 100)
        axes.set(xlabel="episodes", title=f"against {name}")
    figure.axes[0].set_ylabel("games won, %, with 95 % interval")
    return saved(figure, folder, title)


def draw_points_curve(folder: Path, title: str, baselines: Sequence[str]) -> Path:
    """The same with net points a game in place of win rates."""
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    for name in baselines:
        draw_tag(axes, folder, margin_tag(name), _COLOURS[name], f"against {name}")
    axes.axhline(0, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="episodes", ylabel="net points a game, with 95 % interval")
    axes.legend(loc="best")
    return saved(figure, folder, title)


def draw_tag(axes: Axes, folder: Path, tag: str, colour: str, label: str, scale: float = 1.0) -> None:
    """The curve of a run under a tag, with its finished player."""
    draw_curve(axes, Curve(read_points(folder, tag), read_points(folder, final_tag(tag))), colour, label, scale)
    number_ticks(axes.xaxis)


def saved(figure: Figure, folder: Path, title: str, unit: str = "games") -> Path:
    """Writes the learning curve of a run, with a title that says how many games each point is of.

    Returns:
        The path of the PNG.
    """
    settings = read_config(folder).settings
    each, last = (f"{settings[name]:,}" for name in ("evaluation_games", "final_games"))
    figure.suptitle(f"{title}\npoints: {each} {unit} each; diamond, after training: {last}", fontsize="medium")
    path = folder / LEARNING_CURVE
    save_figure(figure, path)
    return path
