"""Learning curves of several runs: the mean win rate of each learner and the range of its seeds."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from matplotlib.figure import Figure
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from evaluate.console import console
from evaluate.figures import GREY, new_figure, number_ticks
from evaluate.runs.format import (
    BEST_RESPONSE,
    EPISODES_PER_SECOND,
    PROCESSOR_SECONDS,
    curve_in_words,
    curve_tag,
    no_curve,
    read_config,
    runs_in,
)
from evaluate.runs.labels import labels_of

Over = Literal["episodes", "seconds", "processor-seconds"]
_LABELS = {
    "episodes": "episodes",
    "seconds": "seconds of training",
    "processor-seconds": "processor seconds of training",
}
_LABEL_WIDTH = 44  # characters of a line of the legend


def read_scalars(folder: Path, tag: str) -> tuple[list[int], list[float]]:
    """Steps and values that a run has written under a tag, in the order of the steps; the last value of each.

    Raises:
        KeyError: it has written none, or has not begun yet.
    """
    if not folder.is_dir():
        raise KeyError(tag)
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    values = {event.step: event.value for event in sorted(events.Scalars(tag), key=lambda event: event.wall_time)}
    return sorted(values), [values[step] for step in sorted(values)]


def read_curve(run: Path, against: str, over: Over) -> tuple[np.ndarray, np.ndarray]:
    """A run's win rates against a baseline, or its exploitability, (N,), over episodes or over seconds of training.

    Time spent on measuring does not count. Processor seconds do not count waiting for other programs either.

    Raises:
        ValueError: the folder holds no such curve; the message names it.
    """
    try:
        episodes, rates = read_scalars(run, curve_tag(against))
        if over == "episodes":
            return np.array(episodes, float), np.array(rates)
        steps, clock = read_scalars(run, PROCESSOR_SECONDS if over == "processor-seconds" else EPISODES_PER_SECOND)
    except KeyError:
        raise ValueError(no_curve(run, against, over)) from None
    seconds = clock if over == "processor-seconds" else np.cumsum(np.diff(steps, prepend=0) / np.array(clock))
    return np.interp(episodes, steps, seconds), np.array(rates)


def mean_and_range(
    curves: list[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Several curves as one, interpolated linearly between their points, up to where the shortest ends.

    Args:
        curves: places and values of each, (N,) and (N,).

    Returns:
        Places, means, lowest and highest values, each (M,).

    Raises:
        ValueError: there is no place that all curves reach.
    """
    first, last = max(places[0] for places, _ in curves), min(places[-1] for places, _ in curves)
    if first > last:
        raise ValueError("some of the runs end before others begin: they have no learning curve in common")
    places = np.unique(np.concatenate([places for places, _ in curves]))
    places = places[(places >= first) & (places <= last)]
    values = np.stack([np.interp(places, *curve) for curve in curves])
    return places, values.mean(axis=0), values.min(axis=0), values.max(axis=0)


def curves_by_label(
    folders: Sequence[Path], labels: Sequence[str], against: str, over: Over
) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """The curves of runs under their labels; runs without a curve are named on the console and left out.

    Args:
        folders: folders of runs, or of runs of several seeds.
        labels: a label for each folder; none at all for the names of the learners, and of the settings in which runs of
            one learner differ. Runs of one label are one curve.
        against: the baseline.
        over: the horizontal axis.

    Raises:
        ValueError: an argument is not allowed, or no run has such a curve.
    """
    if not folders:
        raise ValueError("there are no runs: give the folder of one, or of several")
    if labels and len(labels) != len(folders):
        raise ValueError(
            f"there are {len(folders)} folders and {len(labels)} labels: give a label for each folder, or none"
        )
    found: dict[Path, tuple[np.ndarray, np.ndarray]] = {}
    given: list[str] = []
    for k, folder in enumerate(folders):
        for run in runs_in(folder):
            try:
                found[run] = read_curve(run, against, over)
            except ValueError as error:
                console.print(f"left out: {error}", soft_wrap=True, highlight=False)
            else:
                given += labels[k : k + 1]
    if not found:
        raise ValueError(f"none of the runs has a curve of {curve_in_words(against)} over {over}")
    curves: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for label, curve in zip(given or labels_of([read_config(run) for run in found]), found.values()):
        curves.setdefault(label, []).append(curve)
    return curves


def draw_curves(curves: dict[str, list[tuple[np.ndarray, np.ndarray]]], against: str, over: Over) -> Figure:
    """A line for each label, the mean of its runs, with their range around it."""
    is_exploitability = against == BEST_RESPONSE
    scale, level = (1, 0) if is_exploitability else (100, 50)  # in equilibrium nothing is lost, or half of the games
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    for label, of_label in curves.items():
        places, mean, low, high = mean_and_range(of_label)
        n = len(of_label)
        label = textwrap.fill(f"{label}, mean and range of {n} runs" if n > 1 else label, _LABEL_WIDTH)
        (line,) = axes.plot(places, scale * mean, label=label, marker="." if len(places) == 1 else None)
        axes.fill_between(places, scale * low, scale * high, color=line.get_color(), alpha=0.25, lw=0)
    axes.axhline(level, color=GREY, lw=0.8, ls=":")
    of_games = f"games won against {against}, %"
    axes.set(xlabel=_LABELS[over], ylabel="exploitability, points a deal" if is_exploitability else of_games)
    number_ticks(axes.xaxis)
    if is_exploitability:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 0.08))  # above the line of the equilibrium
    else:
        axes.legend(loc="lower right")
    return figure
