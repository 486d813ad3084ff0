"""Learning curves: what a run measured while it trained and at its end, the mean of several runs, and their pictures.

Draw all pictures with figures from here, which set matplotlib's options. Colours are Paul Tol's "bright" scheme, which
colour-blind people can tell apart (https://sronpersonalpages.nl/~pault).
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from crib_env.evaluate.console import console
from crib_env.evaluate.files import picture_paths
from crib_env.evaluate.runs.format import (
    BEST_RESPONSE,
    EXPLOITABILITY,
    PROCESSOR_SECONDS,
    band_of,
    is_finished,
    read_config,
    read_summary,
    runs_in,
    win_rate_tag,
)
from crib_env.evaluate.statistics import student_quantile
from crib_env.files.whole_file import whole_file

matplotlib.use("Agg")

BLUE, RED, GREEN, YELLOW, CYAN, PURPLE, GREY = COLOURS = (
    "#4477AA",
    "#EE6677",
    "#228833",
    "#CCBB44",
    "#66CCEE",
    "#AA3377",
    "#BBBBBB",
)
GOOD_AND_BAD = "RdBu"  # colour map for values with a middle; blue is good
AMOUNT = "gray_r"  # colour map for amounts; black is the whole

matplotlib.rcParams.update(
    {
        "axes.prop_cycle": cycler(color=COLOURS[:-1]),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": "medium",
        "font.size": 9,
        "legend.frameon": False,
        "savefig.dpi": 150,
        "svg.fonttype": "none",  # text stays text
        "text.parse_math": False,  # $ in a name is no formula
        "svg.hashsalt": "crib_env",  # the same picture is the same file
    }
)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def number_ticks(axis: Axis) -> None:
    """Labels the ticks of an axis by their numbers: 2.5, 50, 600,000, and from a million on in millions, 1.5 M."""
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}" if value < 10**6 else f"{value / 10**6:,.10g} M")


def number_log_ticks(axis: Axis) -> None:
    """The same for a logarithmic axis: 0.01, 0.02, 0.05, 0.1 and so on."""
    number_ticks(axis)
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_formatter(NullFormatter())


def save_figure(figure: Figure, path: Path) -> None:
    """Writes a figure as PNG and as SVG, see :func:`crib_env.evaluate.files.picture_paths`."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # it is laid out now; each file would do it again
    for file in picture_paths(path):
        is_svg = file.suffix == ".svg"
        with whole_file(file) as temporary:
            figure.savefig(temporary, format=file.suffix[1:], metadata={"Date": None} if is_svg else None)


Over = Literal["episodes", "processor-seconds"]
_LABELS = {"episodes": "episodes", "processor-seconds": "processor seconds of training"}
_LABEL_WIDTH = 44  # characters of a line of the legend
_FINAL_MARK = "D"


def read_scalars(folder: Path, tag: str) -> tuple[list[int], list[float]]:
    """Steps and values that a run has written under a tag, in the order of the steps; the last value of each.
    ``KeyError`` if it has written none, or has not begun yet."""
    if not folder.is_dir():
        raise KeyError(tag)
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    values = {event.step: event.value for event in sorted(events.Scalars(tag), key=lambda event: event.wall_time)}
    return sorted(values), [values[step] for step in sorted(values)]


class Points(NamedTuple):
    """Measurements, each (N,): places on the horizontal axis, values, ends of 95 % intervals (NaN: unknown)."""

    places: np.ndarray
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray


NO_POINTS = Points(*np.empty((4, 0)))


class Curve(NamedTuple):
    """What a run measured while it trained, and of its finished player: other deals, and more of them."""

    training: Points
    final: Points  # one, or none


def read_points(run: Path, tag: str, over: Over = "episodes") -> Points:
    """The measurements that a run has written under a tag; perhaps none. Time spent on measuring does not count."""
    try:
        episodes, values = read_scalars(run, tag)
        low, high = (read_scalars(run, end)[1] for end in band_of(tag))
    except KeyError:
        return NO_POINTS
    places = np.array(episodes, float)
    if over != "episodes":
        steps, seconds = read_scalars(run, PROCESSOR_SECONDS)
        places = np.interp(places, [0, *steps], [0, *seconds])
    return Points(places, np.array(values), np.array(low), np.array(high))


def final_of(summary: dict[str, Any], tag: str, over: Over = "episodes") -> Points:
    """The finished player's result in a summary, by the tag of its curve: one point, or none."""
    values, place = summary["scalars"], summary.get(over.replace("-", "_"))
    if tag not in values or place is None:
        return NO_POINTS
    numbers = (place, *(values[one] for one in (tag, *band_of(tag))))
    return Points(*(np.array([number], np.float32).astype(float) for number in numbers))  # as event files have them


def read_curve(run: Path, against: str, over: Over) -> Curve:
    """A run's win rates against a baseline, or its exploitability; ``ValueError`` if it holds no such curve."""
    tag = EXPLOITABILITY if against == BEST_RESPONSE else win_rate_tag(against)
    try:
        final = read_summary(run, lambda summary: final_of(summary, tag, over)) if is_finished(run) else NO_POINTS
        curve = Curve(read_points(run, tag, over), final)
    except KeyError:
        curve = Curve(NO_POINTS, NO_POINTS)
    if not any(len(part.places) for part in curve):
        raise ValueError(f"{run} holds no curve against {against!r} over {over}")
    return curve


def curve_of_json(content: dict[str, dict[str, list[float]]]) -> Curve:
    """A curve from what :func:`crib_env.evaluate.files.plain` makes of it."""
    parts = {part: {name: np.array(one, float) for name, one in points.items()} for part, points in content.items()}
    return Curve(**{part: Points(**points) for part, points in parts.items()})


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean of several runs, interpolated linearly between their points from where all begin to where the first
    ends (``ValueError`` if nowhere); and of their finished players if all are finished. A single run keeps its own
    intervals, those of means are of Student's t distribution."""
    if len(curves) == 1:
        return curves[0]
    training, final = NO_POINTS, NO_POINTS
    if some := [curve.training for curve in curves if len(curve.training.places)]:
        first, last = max(curve.places[0] for curve in some), min(curve.places[-1] for curve in some)
        if first > last:
            raise ValueError("some of the runs end before others begin: they have no learning curve in common")
        places = np.unique(np.concatenate([curve.places for curve in some]))
        places = places[(places >= first) & (places <= last)]
        training = _mean_at(places, np.stack([np.interp(places, curve.places, curve.values) for curve in some]))
    if all(len(curve.final.places) for curve in curves):
        places, values = (np.stack(part) for part in zip(*(curve.final[:2] for curve in curves)))
        final = _mean_at(places.mean(axis=0), values)
    return Curve(training, final)


def _mean_at(places: np.ndarray, values: np.ndarray) -> Points:
    """The mean over R runs of values (R, N) at N places."""
    n, mean = len(values), values.mean(axis=0)
    half = student_quantile(n - 1) * values.std(axis=0, ddof=1) / math.sqrt(n) if n > 1 else np.full(len(mean), np.nan)
    return Points(places, mean, mean - half, mean + half)


def curves_by_label(folders: Sequence[Path], against: str, over: Over) -> dict[str, list[Curve]]:
    """The curves of each folder, of a run or of several seeds, by its learner, and by its path if several have one.

    Runs without a curve are named on the console and left out.
    """
    learners = [read_config(folder).learner for folder in folders]
    curves: dict[str, list[Curve]] = {}
    for folder, learner in zip(folders, learners):
        label = learner if learners.count(learner) == 1 else f"{learner}, {folder}"
        for run in runs_in(folder):
            try:
                curves.setdefault(label, []).append(read_curve(run, against, over))
            except ValueError as error:
                console.print(f"left out: {error}", soft_wrap=True, highlight=False)
    if not any(curves.values()):
        raise ValueError(f"there are no runs that have a curve against {against!r} over {over}")
    return {label: of_label for label, of_label in curves.items() if of_label}


def draw_curves(
    curves: Mapping[str, Sequence[Curve]], against: str, over: Over, levels: Mapping[str, float] | None = None
) -> Figure:
    """A line for each label, the mean of its runs with its 95 % interval, and a diamond for the finished players.

    Exploitability of a single run is between two bounds instead, which are equal where it is exact. Its axes are
    logarithmic, so that of untrained players is left out.

    Args:
        levels: players to compare with, as lines with their names.
    """
    is_exploitability = against == BEST_RESPONSE
    figure = new_figure(7, 4.2)
    axes = figure.subplots()
    looks = itertools.cycle(itertools.product(("-", "--"), COLOURS[:-1]))
    for (label, of_label), (style, colour) in zip(curves.items(), looks):
        n = len(of_label)
        label = textwrap.fill(f"{label}, mean of {n} runs (95 %)" if n > 1 else label, _LABEL_WIDTH)
        draw_curve(axes, mean_curve(of_label), colour, label, 1 if is_exploitability else 100, ls=style)
    if any(len(curve.final.places) for of_label in curves.values() for curve in of_label):
        axes.plot([], [], _FINAL_MARK, color=GREY, label="after training: more games, other deals")
    if not is_exploitability:
        axes.axhline(50, color=GREY, lw=0.8, ls=":")  # half of the games, as in equilibrium
    for name, value in (levels or {}).items():
        axes.axhline(value, color=GREY, lw=0.8)
        axes.annotate(name, (1.01, value), xycoords=("axes fraction", "data"), va="center", annotation_clip=False)
    of_games = f"games won against {against}, %, with 95 % interval"
    axes.set(xlabel=_LABELS[over], ylabel="exploitability, points a deal" if is_exploitability else of_games)
    if is_exploitability:
        for axis, set_scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
            set_scale("log", nonpositive="mask")
            number_log_ticks(axis)
    else:
        number_ticks(axes.xaxis)
        axes.set_xlim(left=0)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def draw_curve(axes: Axes, curve: Curve, colour: str, label: str, scale: float = 1.0, **look: Any) -> None:
    """A line with its band for the training, and a diamond with its interval for the finished player.

    Args:
        scale: what to multiply values by.
        look: other arguments of the line, as matplotlib has them.
    """
    places, values, low, high = curve.training
    axes.plot(places, scale * values, color=colour, label=label, **look)
    axes.fill_between(places, scale * low, scale * high, color=colour, alpha=0.25, lw=0)
    places, values, low, high = curve.final
    if len(places):
        ends = scale * np.stack([values - low, high - values])
        axes.errorbar(places, scale * values, ends, fmt=_FINAL_MARK, color=colour, capsize=3, markeredgecolor="black")
