"""Helpers for the tests of learners: small runs, stopped and resumed runs, commands."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.progress import Progress

from crib_env.train.loop.run import train
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.registry import LEARNERS, learner_named

ROOT = Path(__file__).parents[2]
_LONGEST_WAIT = 1_800  # seconds until a run's first checkpoint: a busy machine has taken more than 300


def name_of(module):
    """The name of the learner that a module defines."""
    (name,) = (
        name for name, entry in LEARNERS.items() if module.__name__ == f"crib_env.train.{entry[0].partition(':')[0]}"
    )
    return name


def class_of(module):
    """The learner that a module defines."""
    return learner_named(name_of(module))


def run(learner, settings, folder, progress=None):
    """Trains, in a run folder; returns the agent and a summary."""
    with progress or Progress(disable=True) as progress:
        rounds, agent = train(class_of(learner), settings, folder, progress)
    return agent, rounds.position.summary()


def new_run(learner, settings, runs):
    """Trains in a new run folder below a path; returns the agent and a summary."""
    return run(learner, settings, RunFolder.create(name_of(learner), settings, runs))


def finished_run(learner, settings, runs):
    """A run below a path to its end: its folder, agent and summary."""
    folder = RunFolder.create(name_of(learner), settings, runs)
    agent, summary = run(learner, settings, folder)
    folder.finish(summary)
    return folder, agent, summary


class InterruptedProgress(Progress):
    """Presses Ctrl-C after some episodes."""

    def __init__(self, after):
        super().__init__(disable=True)
        self._after = after

    def update(self, *args, **kwargs):
        if kwargs.get("completed") == self._after:
            os.kill(os.getpid(), signal.SIGINT)


def stopped_run(learner, settings, runs, after):
    """A run stopped by Ctrl-C after some episodes; its folder."""
    folder = RunFolder.create(name_of(learner), settings, runs)
    with pytest.raises(KeyboardInterrupt):
        run(learner, settings, folder, InterruptedProgress(after))
    assert folder.load_checkpoint()[1]["episodes"] == after
    return folder


def killed_run(learner, settings, runs, after=0.0):
    """A run that is killed so many seconds after its first checkpoint; returns its folder."""
    folder = RunFolder.create(name_of(learner), settings, runs)
    arguments, options = command("train", name_of(learner), "--resume", str(folder.path), cwd=runs)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options) as process:
        try:
            deadline = time.monotonic() + _LONGEST_WAIT
            while not list(folder.path.glob("checkpoints/*.safetensors")):
                assert process.poll() is None, process.stdout.read()
                assert time.monotonic() < deadline, f"no checkpoint after {_LONGEST_WAIT} s"
                time.sleep(0.01)
            time.sleep(after)
        finally:
            process.kill()
    assert not folder.final.exists(), "it ended before it was killed"
    return folder


def command(*arguments, cwd):
    """Arguments and options of ``subprocess.run`` that run ``python -m`` of this checkout in another folder."""
    path = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return [sys.executable, "-m", *arguments], {"cwd": cwd, "env": path, "text": True}
