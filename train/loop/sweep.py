"""Runs of one learner that differ only in their seeds, and the spread of their results."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

from crib_env.agents.registry import settings_of
from crib_env.evaluate.console import ProgressLines, console, progress_bar, table_of
from crib_env.evaluate.executors import connected
from crib_env.evaluate.files import difference, held, write_json
from crib_env.evaluate.runs.format import SUMMARY, is_begun, is_end, is_finished, read_summary, run_of_seed, title_of
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.settings import RunSettings
from crib_env.train.loop.strength import figure_of, strength_of
from crib_env.train.registry import learner_named, presets_of
from crib_env.values import typed


def sweep(learner: str, settings: RunSettings, seeds: int, path: Path, executor: str | None = None) -> None:
    """Trains with the settings' seed and those after it, in the folders ``seed-K`` of one folder.

    Finished runs are kept and stopped ones continued. If all are finished, it only prints their table again.

    With an executor (:func:`crib_env.evaluate.executors.connected`), whose machines share the folder, the seeds are
    trained in parallel.

    Raises:
        ValueError: another process works in the folder, or a run there has other settings.
    """
    all_settings = [replace(settings, seed=settings.seed + k) for k in range(seeds)]
    runs = [run_of_seed(path, one.seed) for one in all_settings]
    if is_finished(path):
        console.print(f"finished already: {path}", soft_wrap=True)
    else:
        with held(path), connected(executor, getattr(settings, "threads", 1)) as cluster:
            if cluster is None:
                for one, run in zip(all_settings, runs):
                    _train(learner, one, run)
            else:
                calls = [(learner, asdict(one), run, Path.cwd()) for one, run in zip(all_settings, runs)]
                for _ in cluster.each(_train_there, calls):
                    pass
            write_json(path / SUMMARY, {"seeds": [one.seed for one in all_settings], "final": _spreads(runs)})
    rows = []
    for tag, spread in _spreads(runs).items():
        mean, deviation, lowest, highest = (figure_of(tag, value) for value in spread.values())
        rows.append((title_of(tag), f"{mean} ± {deviation}", lowest, highest))
    title = f"{seeds} seeds, {settings.final_games:,} {strength_of(learner_named(learner), settings).sample}"
    columns = "", "mean ± standard deviation", "lowest", "highest"
    console.print(table_of(f"{learner}: {title}", columns, rows))


def _spreads(runs: Sequence[Path]) -> dict[str, dict[str, float]]:
    """The spread of every final result."""
    finals = [_scalars_of(run) for run in runs]
    return {tag: spread_of([final[tag] for final in finals]) for tag in finals[0] if not is_end(tag)}


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
