"""The learning curve of a run as a picture: strength against the baselines over episodes."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from train.strength import BASELINES

matplotlib.use("Agg")
_COLOURS = {"random": "#4477aa", "greedy": "#cc6677"}


def read_scalars(folder: Path, tag: str) -> tuple[list[int], list[float]]:
    """Steps and values that a run has written under a tag, in the order of the steps; the last value of each."""
    events = EventAccumulator(str(folder))
    events.Reload()
    values = {event.step: event.value for event in sorted(events.Scalars(tag), key=lambda event: event.wall_time)}
    return sorted(values), [values[step] for step in sorted(values)]


def draw_learning_curve(folder: Path, title: str) -> Path:
    """Draws ``learning-curve.png`` into a run folder: win rates with their 95 % intervals; its path."""
    figure = Figure(figsize=(7, 3.6), layout="constrained", dpi=150)
    axes = figure.subplots()
    for name in BASELINES:
        tag = f"strength/win rate against {name}"
        steps, rates = read_scalars(folder, tag)
        low, high = (read_scalars(folder, f"{tag} {end}")[1] for end in ("low", "high"))
        axes.plot(steps, [100 * rate for rate in rates], color=_COLOURS[name], label=f"against {name}")
        axes.fill_between(
            steps, [100 * rate for rate in low], [100 * rate for rate in high], color=_COLOURS[name], alpha=0.25, lw=0
        )
    axes.axhline(50, color="grey", lw=0.8, ls=":")
    axes.set(xlabel="episodes", ylabel="games won, %, with 95 % interval", title=title, ylim=(0, 100))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False)
    path = folder / "learning-curve.png"
    figure.savefig(path)
    return path
