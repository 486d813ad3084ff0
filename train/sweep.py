"""Several runs of one learner that differ in their seeds alone, and how far apart they end."""

from __future__ import annotations

import json
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

from evaluate.console import ProgressLines, console, progress_bar
from evaluate.files import write_json
from evaluate.learning_curves import draw_curves, mean_and_range, read_curve, read_scalars
from evaluate.on_ray import connected
from train.curve_layout import band_of, is_end, layout_of, with_band
from train.run import run_learner
from train.run_folder import RunFolder
from train.strength import BASELINES

_GROUP = "strength/"


class Sweep:
    """Runs in the folders ``seed-K`` of a folder, which itself shows TensorBoard their mean and range.

    Args:
        learner: the module of a learner.
        settings: of the first run; the others have the seeds that follow.
        seeds: how many.
        path: the folder.
    """

    def __init__(self, learner: Any, settings: Any, seeds: int, path: Path) -> None:
        self._learner = learner
        self._settings = [replace(settings, seed=settings.seed + k) for k in range(seeds)]
        self._path = path
        self._runs = [path / f"seed-{one.seed}" for one in self._settings]

    def run(self, ray: str | None = None) -> None:
        """Trains one seed after the other, where a run that is finished stays and one that was stopped goes on.

        Args:
            ray: the address of a cluster to train the seeds on side by side, see :func:`evaluate.on_ray.connected`;
                its machines share the folder.
        """
        if ray is None:
            for settings, path in zip(self._settings, self._runs):
                _train(self._learner, settings, path)
        else:
            with connected(ray) as cluster:
                cpus = min(getattr(self._settings[0], "threads", 1), cluster.most_cpus)
                here = Path.cwd()
                calls = [(self._learner, one, path, here) for one, path in zip(self._settings, self._runs)]
                for _ in cluster.each(_train_there, calls, cpus):
                    pass
        self._report()

    def _report(self) -> None:
        """Curves into TensorBoard, pictures, ``summary.json`` and a table."""
        self._log_curves()
        name = f"{self._learner.NAME}, mean and range of {len(self._runs)} seeds"
        for baseline in BASELINES:
            try:
                curves = [read_curve(run, baseline, "episodes") for run in self._runs]
            except ValueError:  # not measured by matches
                continue
            from evaluate.figures import save_figure  # matplotlib takes half a second

            save_figure(
                draw_curves({self._learner.NAME: curves}, baseline, "episodes"), self._path / f"against-{baseline}"
            )
        finals = [json.loads((run / "summary.json").read_text())["scalars"] for run in self._runs]
        summary = {tag: spread_of([final[tag] for final in finals]) for tag in finals[0] if not is_end(tag)}
        write_json(self._path / "summary.json", {"seeds": [one.seed for one in self._settings], "final": summary})
        table = Table(title=f"{name} ({self._path})")
        for column in ("", "mean", "standard deviation", "lowest", "highest"):
            table.add_column(column, justify="right" if column else "left")
        for tag, spread in summary.items():
            table.add_row(tag.removeprefix(_GROUP), *(f"{value:.4f}" for value in spread.values()))
        console.print(table)

    def _log_curves(self) -> None:
        """The mean of each curve of strength under its own name, its range as ``low`` and ``high``."""
        first, *others = (EventAccumulator(str(run)).Reload().Tags()["scalars"] for run in self._runs)
        shared = [tag for tag in first if all(tag in written for written in others)]
        tags = [tag for tag in shared if tag.startswith(_GROUP) and not is_end(tag)]
        with SummaryWriter(str(self._path)) as writer:
            writer.add_custom_scalars(layout_of([name for tag in tags for name in (tag, *band_of(tag))]))
            for tag in tags:
                curves = []
                for run in self._runs:
                    places, values = read_scalars(run, tag)
                    curves.append((np.array(places, float), np.array(values)))
                for place, *mean_low_high in zip(*mean_and_range(curves)):
                    for name, value in with_band(tag, *mean_low_high).items():
                        writer.add_scalar(name, value, int(place))


def _train(learner: Any, settings: Any, path: Path, bar: Callable[[], Progress] = progress_bar) -> None:
    if (path / "summary.json").exists():
        return
    if (path / "config.json").exists():
        folder, _ = RunFolder.open(path, learner.NAME)
    else:
        path.mkdir(exist_ok=True)
        folder = RunFolder.begin(path, learner.NAME, asdict(settings))
    run_learner(learner, settings, folder, bar)


def _train_there(learner: Any, settings: Any, path: Path, here: Path) -> None:
    """On a worker: paths are meant as where the command was given, and lines are what arrives from there."""
    os.chdir(here)
    _train(learner, settings, path, lambda: ProgressLines(f"seed {settings.seed}"))


def spread_of(values: list[float]) -> dict[str, float]:
    """Mean, standard deviation, lowest and highest of the results of several seeds."""
    return {
        "mean": float(np.mean(values)),
        "standard deviation": float(np.std(values, ddof=1)),
        "lowest": min(values),
        "highest": max(values),
    }
