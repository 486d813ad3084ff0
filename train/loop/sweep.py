"""Runs of one learner that differ only in their seeds, and the spread of their results."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress
from rich.table import Table
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from crib_env.agents.registry import settings_of
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.executors import connected
from crib_env.evaluate.files import write_json
from crib_env.evaluate.job import difference, held
from crib_env.evaluate.progress import ProgressLines, progress_bar
from crib_env.evaluate.runs.format import (
    EVENTS,
    SUMMARY,
    band_of,
    final_tags,
    is_begun,
    is_end,
    is_finished,
    is_strength,
    read_summary,
    run_of_seed,
    title_of,
    with_band,
)
from crib_env.evaluate.runs.learning_curves import draw_curves, mean_of, read_curve, read_points
from crib_env.train.loop.contracts import presets_of
from crib_env.train.loop.learning import RunSettings
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.strength import BASELINES, strength_of
from crib_env.train.loop.tensorboard import layout_of
from crib_env.train.registry import learner_named
from crib_env.values import typed


class Sweep:
    """Runs in the folders ``seed-K`` of one folder, whose own TensorBoard curves are their means with 95 % intervals.

    Args:
        learner: by name.
        settings: the settings of the first run; the others have the following seeds.
    """

    def __init__(self, learner: str, settings: RunSettings, seeds: int, path: Path) -> None:
        self._learner = learner
        self._settings = [replace(settings, seed=settings.seed + k) for k in range(seeds)]
        self._path = path
        self._runs = [run_of_seed(path, one.seed) for one in self._settings]

    def run(self, executor: str | None = None) -> None:
        """Trains one seed after the other; finished runs are kept and stopped ones continued.

        If all are finished and drawn, it only prints their table again.

        Args:
            executor: to train the seeds on in parallel, see :func:`crib_env.evaluate.executors.connected`; its
                machines share the folder.

        Raises:
            ValueError: another process works in the folder, or a run there has other settings.
        """
        if is_finished(self._path):
            console.print(f"finished already: {self._path}", soft_wrap=True)
        else:
            with held(self._path):
                self._train_all(executor)
                self._log_curves()
                self._draw()
                write_json(
                    self._path / SUMMARY, {"seeds": [one.seed for one in self._settings], "final": self._spreads()}
                )
        console.print(self.table())

    def _train_all(self, executor: str | None) -> None:
        if executor is None:
            for settings, path in zip(self._settings, self._runs):
                _train(self._learner, settings, path)
        else:
            with connected(executor, getattr(self._settings[0], "threads", 1)) as cluster:
                here = Path.cwd()
                calls = [(self._learner, asdict(one), path, here) for one, path in zip(self._settings, self._runs)]
                for _ in cluster.each(_train_there, calls):
                    pass

    def _draw(self) -> None:
        """Draws the curves."""
        for baseline in BASELINES:
            try:
                curves = [read_curve(run, baseline, "episodes") for run in self._runs]
            except ValueError:  # not measured by matches
                continue
            from crib_env.evaluate.figures import save_figure  # matplotlib takes half a second

            save_figure(draw_curves({self._learner: curves}, baseline, "episodes"), self._path / f"against-{baseline}")

    def _spreads(self) -> dict[str, dict[str, float]]:
        """The spread of every final result."""
        finals = [_scalars_of(run) for run in self._runs]
        return {tag: spread_of([final[tag] for final in finals]) for tag in finals[0] if not is_end(tag)}

    def table(self) -> Table:
        """The spread of every final result, as a table."""
        sample = strength_of(learner_named(self._learner), self._settings[0]).SAMPLE
        games = f"{self._settings[0].final_games:,} {sample}"
        rows = []
        for tag, spread in self._spreads().items():
            mean, deviation, lowest, highest = (in_figures(tag, value) for value in spread.values())
            rows.append((title_of(tag), f"{mean} ± {deviation}", lowest, highest))
        columns = ("", "mean ± standard deviation", "lowest", "highest")
        return table_of(f"{self._learner}: {len(self._runs)} seeds, {games}", columns, rows)

    def _log_curves(self) -> None:
        """Writes the mean of each curve of strength under its own name, with its 95 % interval."""
        for old in self._path.glob(EVENTS):
            old.unlink()  # of a sweep that was stopped while it wrote them: all are written again
        first, *others = (EventAccumulator(str(run)).Reload().Tags()["scalars"] for run in self._runs)
        shared = [tag for tag in first if all(tag in written for written in others)]
        tags = [tag for tag in shared if is_strength(tag) and set(band_of(tag)) <= set(shared)]
        with SummaryWriter(str(self._path)) as writer:
            finals = final_tags({tag: spread["mean"] for tag, spread in self._spreads().items()})
            means = {tag: value for tag, value in finals.items() if tag in shared}
            writer.add_custom_scalars(layout_of([*(name for tag in tags for name in (tag, *band_of(tag))), *means]))
            for tag in tags:
                for place, *mean_low_high in zip(*mean_of([read_points(run, tag) for run in self._runs])):
                    for name, value in with_band(tag, *mean_low_high).items():
                        writer.add_scalar(name, value, int(place))
            for tag, value in means.items():
                writer.add_scalar(tag, value, self._settings[0].all_episodes)


def _scalars_of(run: Path) -> dict[str, float]:
    return read_summary(run, lambda content: typed(content["scalars"], dict[str, float]))


def _train(learner: str, settings: RunSettings, path: Path, bar: Callable[[], Progress] = progress_bar) -> None:
    if is_finished(path):
        return
    if is_begun(path):
        folder, found = RunFolder.open(path, learner)
        if other := difference(found, settings):
            raise ValueError(f"{path} was begun with {other}: delete it to train it again")
    else:
        path.mkdir(exist_ok=True)
        folder = RunFolder.begin(path, learner, asdict(settings))
    run_learner(learner_named(learner), settings, folder, bar)


def _train_there(learner: str, values: dict[str, Any], path: Path, here: Path) -> None:
    """Trains on a worker, from the folder in which the command was given; prints lines in place of a progress bar."""
    os.chdir(here)
    settings = settings_of(presets_of(learner_named(learner))["default"], values, "the command")
    _train(learner, settings, path, lambda: ProgressLines(f"seed {settings.seed}"))


def spread_of(values: list[float]) -> dict[str, float]:
    """Mean, standard deviation, lowest and highest of the results of several seeds."""
    return {
        "mean": float(np.mean(values)),
        "standard deviation": float(np.std(values, ddof=1)),
        "lowest": min(values),
        "highest": max(values),
    }


def in_figures(tag: str, value: float) -> str:
    """A result for display: win rates in percent, points with two decimals, points a hand with four."""
    if "win rate" in tag:
        return f"{value:.2%}"
    return f"{value:.2f}" if "a game" in tag else f"{value:.4f}"
