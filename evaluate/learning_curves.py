"""Learning curves of several runs: the mean win rate of each learner and the range of its seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from matplotlib.figure import Figure
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from evaluate.console import console
from evaluate.figures import GREY, new_figure, save_figure
from evaluate.files import picture_paths
from evaluate.runs_table import read_config

Over = Literal["episodes", "seconds"]
_LABELS = {"episodes": "episodes", "seconds": "seconds of training"}


def read_scalars(folder: Path, tag: str) -> tuple[list[int], list[float]]:
    """Steps and values that a run has written under a tag, in the order of the steps; the last value of each.

    Raises:
        KeyError: it has written none.
    """
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    values = {event.step: event.value for event in sorted(events.Scalars(tag), key=lambda event: event.wall_time)}
    return sorted(values), [values[step] for step in sorted(values)]


def read_curve(run: Path, against: str, over: Over) -> tuple[np.ndarray, np.ndarray]:
    """A run's win rates against a baseline, (N,), over episodes or over seconds of training (measuring left out).

    Raises:
        ValueError: the folder holds no such curve; the message names it.
    """
    try:
        episodes, rates = read_scalars(run, f"strength/win rate against {against}")
        if over == "episodes":
            return np.array(episodes, float), np.array(rates)
        steps, speeds = read_scalars(run, "speed/episodes per second")
    except KeyError:
        raise ValueError(f"{run} holds no curve of win rates against {against!r} over {over}") from None
    seconds = np.cumsum(np.diff(steps, prepend=0) / np.array(speeds))
    return np.interp(episodes, steps, seconds), np.array(rates)


def mean_and_range(
    curves: list[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Several curves as one, by straight lines between their points, as far as all of them reach.

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


def draw_curves(curves: dict[str, list[tuple[np.ndarray, np.ndarray]]], against: str, over: Over) -> Figure:
    """A line for each label, the mean of its runs, with their range around it."""
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    for label, of_label in curves.items():
        places, mean, low, high = mean_and_range(of_label)
        n = len(of_label)
        (line,) = axes.plot(places, 100 * mean, label=f"{label}, mean and range of {n} runs" if n > 1 else label)
        axes.fill_between(places, 100 * low, 100 * high, color=line.get_color(), alpha=0.25, lw=0)
    axes.axhline(50, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel=_LABELS[over], ylabel=f"games won against {against}, %")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.legend(loc="lower right")
    return figure


def draw_and_report(runs: tuple[Path, ...], labels: tuple[str, ...], picture: Path, against: str, over: Over) -> None:
    """Reads runs, draws them and says where the picture lies.

    Args:
        runs: their folders.
        labels: a label for each; none at all for the names of the learners. Runs of one label are one curve.
        picture: the file.
        against: the baseline.
        over: what runs from left to right.

    Raises:
        ValueError: an argument is not allowed, or a run has no such curve.
    """
    if not runs:
        raise ValueError("there are no runs: give the folder of one, or of several")
    if labels and len(labels) != len(runs):
        raise ValueError(f"there are {len(runs)} runs and {len(labels)} labels: give a label for each run, or none")
    curves: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    learners = [read_config(run)[0] for run in runs]
    for run, label in zip(runs, labels or learners):
        curves.setdefault(label, []).append(read_curve(run, against, over))
    save_figure(draw_curves(curves, against, over), picture)
    console.print(f"learning curves: {' and '.join(map(str, picture_paths(picture)))}")
