"""Learning curves: what a run measured while it trained and at its end, and the mean of several runs."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from crib_env.evaluate.console import console
from crib_env.evaluate.figures import COLOURS, GREY, new_figure, number_log_ticks, number_ticks
from crib_env.evaluate.runs.format import (
    BEST_RESPONSE,
    EPISODES_PER_SECOND,
    EXPLOITABILITY,
    PROCESSOR_SECONDS,
    band_of,
    is_finished,
    labels_of,
    read_config,
    read_summary,
    runs_in,
    win_rate_tag,
)
from crib_env.evaluate.statistics import student_quantile

Over = Literal["episodes", "seconds", "processor-seconds"]
_LABELS = {
    "episodes": "episodes",
    "seconds": "seconds of training",
    "processor-seconds": "processor seconds of training",
}
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
    """The measurements that a run has written under a tag, over episodes or over seconds of training; perhaps none.

    Time spent on measuring does not count. Processor seconds do not count waiting for other programs either.
    """
    try:
        episodes, values = read_scalars(run, tag)
        low, high = (read_scalars(run, end)[1] for end in band_of(tag))
    except KeyError:
        return NO_POINTS
    places = np.array(episodes, float)
    if over != "episodes":
        steps, clock = read_scalars(run, PROCESSOR_SECONDS if over == "processor-seconds" else EPISODES_PER_SECOND)
        seconds = clock if over == "processor-seconds" else np.cumsum(np.diff(steps, prepend=0) / np.array(clock))
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


def mean_of(curves: Sequence[Points]) -> Points:
    """The mean of several runs, interpolated linearly between their points, up to where the shortest ends.

    The intervals are those of the mean of such runs, by Student's t distribution. A single run keeps its own.
    ``ValueError`` if there is no place that all curves reach.
    """
    if len(curves) == 1:
        return curves[0]
    first, last = max(curve.places[0] for curve in curves), min(curve.places[-1] for curve in curves)
    if first > last:
        raise ValueError("some of the runs end before others begin: they have no learning curve in common")
    places = np.unique(np.concatenate([curve.places for curve in curves]))
    places = places[(places >= first) & (places <= last)]
    return _mean_at(places, np.stack([np.interp(places, curve.places, curve.values) for curve in curves]))


def _mean_at(places: np.ndarray, values: np.ndarray) -> Points:
    """The mean over R > 1 runs of values (R, N) at N places."""
    n, mean = len(values), values.mean(axis=0)
    half = student_quantile(n - 1) * values.std(axis=0, ddof=1) / math.sqrt(n)
    return Points(places, mean, mean - half, mean + half)


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean of several runs; of their finished players if all are finished."""
    training = [curve.training for curve in curves if len(curve.training.places)]
    finals = [curve.final for curve in curves if len(curve.final.places)]
    final = NO_POINTS
    if len(finals) == len(curves):
        places, values = (np.array(part) for part in zip(*((one.places, one.values) for one in finals)))
        final = finals[0] if len(finals) == 1 else _mean_at(places.mean(axis=0), values)
    return Curve(mean_of(training) if training else NO_POINTS, final)


def curves_by_label(folders: Sequence[Path], against: str, over: Over) -> dict[str, list[Curve]]:
    """The curves of runs by :func:`labels_of`; runs without a curve are named on the console and left out."""
    if not folders:
        raise ValueError("there are no runs: give the folder of one, or of several")
    found: dict[Path, Curve] = {}
    for folder in folders:
        for run in runs_in(folder):
            try:
                found[run] = read_curve(run, against, over)
            except ValueError as error:
                console.print(f"left out: {error}", soft_wrap=True, highlight=False)
    if not found:
        raise ValueError(f"none of the runs has a curve against {against!r} over {over}")
    curves: dict[str, list[Curve]] = {}
    for label, curve in zip(labels_of([read_config(run) for run in found]), found.values()):
        curves.setdefault(label, []).append(curve)
    return curves


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
    scale = 1 if is_exploitability else 100
    figure = new_figure(7, 4.2)
    axes = figure.subplots()
    looks = itertools.cycle(itertools.product(("-", "--"), COLOURS[:-1]))
    for (label, of_label), (style, colour) in zip(curves.items(), looks):
        n = len(of_label)
        label = textwrap.fill(f"{label}, mean of {n} runs (95 %)" if n > 1 else label, _LABEL_WIDTH)
        measured = [set(curve.training.places) for curve in of_label if len(curve.training.places)]
        draw_curve(
            axes, mean_curve(of_label), colour, label, scale, set.intersection(*measured) if measured else (), style
        )
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


def draw_curve(
    axes: Axes,
    curve: Curve,
    colour: str,
    label: str,
    scale: float = 1.0,
    measured: Collection[float] | None = None,
    style: str = "-",
) -> None:
    """A line with its band for the training, and a diamond with its interval for the finished player.

    Args:
        scale: what to multiply values by.
        measured: the places to mark as measured, by default all.
        style: of the line, as matplotlib has it.
    """
    places, values, low, high = curve.training
    marked = np.flatnonzero(np.isin(places, list(places if measured is None else measured)))
    axes.plot(places, scale * values, ls=style, color=colour, label=label, marker=".", markevery=marked.tolist())
    axes.fill_between(places, scale * low, scale * high, color=colour, alpha=0.25, lw=0)
    places, values, low, high = curve.final
    if len(places):
        ends = scale * np.stack([values - low, high - values])
        axes.errorbar(places, scale * values, ends, fmt=_FINAL_MARK, color=colour, capsize=3, markeredgecolor="black")
