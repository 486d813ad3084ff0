"""Trains the agents that claims need: runs ``crib-env train``, because ``evaluate`` may not import ``train``.

A training is a run in ``<folder>/trainings/<name>``. A stopped one continues from its last checkpoint.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crib_env.evaluate.ending import INTERRUPTED, TERMINATED, Terminated
from crib_env.evaluate.executors.cluster import Cluster
from crib_env.evaluate.papers.claims import Training
from crib_env.evaluate.runs.format import SUMMARY, is_begun, read_summary
from crib_env.files.json_text import typed

_FINAL_GAMES = {"discard-game": 200_000}  # hands; other learners are measured by their claims
_FEW = 1_000


def find_run(folder: Path, training: Training) -> Path | None:
    """The run of a training that was begun in the folder of a reproduction."""
    run = _place_of(folder, training)
    return run if is_begun(run) else None


def is_finished(run: Path | None) -> bool:
    """Whether a run has finished."""
    return run is not None and (run / SUMMARY).is_file()


def summary_of(run: Path) -> dict[str, Any]:
    """The summary of a finished run.

    Raises:
        ValueError: it is not finished, or its summary cannot be read.
    """
    return read_summary(run, lambda content: typed(content, dict[str, Any]))


def train(folder: Path, training: Training, quick: bool, seed: int) -> None:
    """Starts or continues a training in a process of its own, which shows its own progress bar.

    Raises:
        ValueError: the training failed.
        KeyboardInterrupt: it was stopped, and has written a checkpoint.
    """
    if is_finished(find_run(folder, training)):
        return
    arguments = _arguments(folder, training, quick, seed)
    command = [sys.executable, "-m", "crib_env.train", *arguments]
    with subprocess.Popen(command) as process:
        try:
            status = process.wait()
        except KeyboardInterrupt as interrupt:
            if isinstance(interrupt, Terminated):
                process.terminate()
            process.wait()  # Ctrl-C reached it too: it writes a checkpoint
            raise
    _check(training, arguments, status)


def train_on(cluster: Cluster, folder: Path, trainings: Sequence[Training], quick: bool, seed: int) -> None:
    """:func:`train` for several trainings side by side, a task each; the machines of the cluster share the folder.

    If a worker was lost, another one continues its training from the last checkpoint.

    Raises:
        ValueError: a training failed.
        OSError: a training was lost again and again.
    """
    left = [training for training in trainings if not is_finished(find_run(folder, training))]
    left.sort(key=lambda training: -training.episodes[not quick] * training.each)  # else the longest would end alone
    for _ in cluster.each(_train_there, [(folder.resolve(), training, quick, seed) for training in left]):
        pass


def _train_there(folder: Path, training: Training, quick: bool, seed: int) -> None:
    """Trains in the worker's own process, so that a lost worker stops writing and Ctrl-C reaches the training."""
    if is_finished(find_run(folder, training)):
        return  # and the worker was lost after that
    arguments = _arguments(folder, training, quick, seed)
    sys.argv[1:] = arguments
    try:
        runpy.run_module("crib_env.train", run_name="__main__", alter_sys=True)
    except SystemExit as stopped:
        _check(training, arguments, stopped.code)


def _place_of(folder: Path, training: Training) -> Path:
    return folder / "trainings" / training.name


def _arguments(folder: Path, training: Training, quick: bool, seed: int) -> list[str]:
    """The arguments for ``crib-env train``."""
    run = find_run(folder, training)
    if run is not None:
        return [training.learner, "--resume", str(run)]
    final_games = _FINAL_GAMES.get(training.learner, _FEW)
    numbers = {
        "episodes": training.episodes[not quick],
        "evaluations": 0,
        "final-games": final_games,
        "seed": seed + training.seed,
    }
    settings = (word for name, n in numbers.items() for word in (f"--{name}", str(n)))
    return [training.learner, *training.flags, *settings, "--folder", str(_place_of(folder, training))]


def _check(training: Training, arguments: Sequence[str], status: object) -> None:
    """Raises the error that the exit status of ``crib-env train`` stands for."""
    if status in (INTERRUPTED, TERMINATED):
        raise KeyboardInterrupt
    if status:
        command = " ".join(("-m train", *arguments))
        raise ValueError(f"the training {training.name} failed with status {status}: {command}")
