"""Runs of one learner that differ only in their seeds."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crib_env.agents.registry import settings_of
from crib_env.evaluate.console import ProgressLines, console, progress_bar
from crib_env.evaluate.executors import connected
from crib_env.evaluate.files import difference, held
from crib_env.evaluate.runs.format import is_begun, is_finished, read_summary, run_of_seed, title_of
from crib_env.evaluate.runs.table import runs_table
from crib_env.train.loop.run import print_line, run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.settings import RunSettings
from crib_env.train.loop.strength import shown, strength_of
from crib_env.train.registry import learner_named, presets_of
from crib_env.values import typed


def sweep(learner: str, settings: RunSettings, seeds: int, path: Path, executor: str | None = None) -> None:
    """Trains with the settings' seed and those after it, in the folders ``seed-K`` of one folder, and prints a table.

    Finished runs are kept and stopped ones continued. With an executor
    (:func:`crib_env.evaluate.executors.connected`), whose machines share the folder, they are trained in parallel.

    Raises:
        ValueError: another process works in the folder, or a run there has other settings.
    """
    wanted = [replace(settings, seed=settings.seed + k) for k in range(seeds)]
    calls = [(learner, asdict(one), run_of_seed(path, one.seed)) for one in wanted]
    if all(is_finished(run) for *_, run in calls):
        print_line(f"finished already: {path}")
    else:
        with held(path), connected(executor, getattr(settings, "threads", 1)) as cluster:
            if cluster is None:
                for call in calls:
                    _train(*call)
            else:
                list(cluster.each(_train, [(*call, Path.cwd()) for call in calls]))
    console.print(runs_table([run for *_, run in calls]))
    finals = [read_summary(run, lambda content: typed(content["scalars"], dict[str, float])) for *_, run in calls]
    for tag in strength_of(learner_named(learner), settings).tags:
        values = [final[tag] for final in finals]
        mean, deviation = shown(tag, float(np.mean(values))), shown(tag, float(np.std(values, ddof=1)))
        print_line(f"{title_of(tag)} of {seeds} seeds: {mean} ± {deviation}, a standard deviation")


def _train(learner: str, values: dict[str, Any], path: Path, here: Path | None = None) -> None:
    """Trains one seed; on a worker from the folder in which the command was given, with lines in place of a bar."""
    if here is not None:
        os.chdir(here)
    if is_finished(path):
        return
    settings = settings_of(presets_of(learner_named(learner))["default"], values, "the command")
    if is_begun(path):
        folder, found = RunFolder.open(path, learner)
        if other := difference(found, settings):
            raise ValueError(f"{path} was begun with {other}: delete it to train it again")
    else:
        path.mkdir(exist_ok=True)
        folder = RunFolder.begin(path, learner, asdict(settings))
    bar = progress_bar if here is None else partial(ProgressLines, f"seed {settings.seed}")
    run_learner(learner_named(learner), settings, folder, bar)
