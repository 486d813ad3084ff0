"""Trains what claims are measured on: ``python -m train`` in a process of its own, as ``evaluate`` may not import it.

A training lies in ``<folder>/trainings/<name>/runs/<learner>/<time>``. One that was stopped goes on where its last
checkpoint stands.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from evaluate.reproduce.claims import Training

_ROOT = Path(__file__).parents[2]
_FINAL_GAMES = {"discard-game": 200_000}  # hands; other learners are measured by their claims
_FEW = 1_000


def find_run(folder: Path, training: Training) -> Path | None:
    """The run of a training that was begun in the folder of a reproduction."""
    found = sorted((folder / "trainings" / training.name / "runs" / training.learner).glob("*/config.json"))
    return found[-1].parent if found else None


def is_finished(run: Path | None) -> bool:
    """Whether a run has come to its end."""
    return run is not None and (run / "summary.json").is_file()


def summary_of(run: Path) -> dict[str, Any]:
    """What a finished run says of itself."""
    return json.loads((run / "summary.json").read_text())


def train(folder: Path, training: Training, quick: bool, seed: int) -> None:
    """Trains, or goes on; its own progress bar is shown.

    Raises:
        ValueError: the training failed.
        KeyboardInterrupt: it was stopped, and has written a checkpoint.
    """
    run = find_run(folder, training)
    if is_finished(run):
        return
    place = folder / "trainings" / training.name
    place.mkdir(parents=True, exist_ok=True)
    arguments = [training.learner]
    if run is not None:
        arguments += ["--resume", str(run.relative_to(place))]
    else:
        final_games = _FINAL_GAMES.get(training.learner, _FEW)
        numbers = {"episodes": training.episodes[not quick], "evaluations": 0, "final-games": final_games, "seed": seed}
        arguments += [*training.flags, *(word for name, n in numbers.items() for word in (f"--{name}", str(n)))]
    search_path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "train", *arguments]
    with subprocess.Popen(command, cwd=place, env={**os.environ, "PYTHONPATH": search_path}) as process:
        try:
            status = process.wait()
        except KeyboardInterrupt:
            process.wait()  # Ctrl-C reached it too: it writes a checkpoint
            raise
    if status == 130:
        raise KeyboardInterrupt
    if status:
        raise ValueError(f"the training {training.name} failed with status {status}: {' '.join(command[1:])}")
