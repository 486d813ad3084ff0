"""Helpers for the tests of learners: small runs, stopped and resumed runs, commands."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from rich.progress import Progress

from crib_env.train.loop.run_folder import RunFolder

ROOT = Path(__file__).parents[2]
_LONGEST_WAIT = 1_800  # seconds until a run's first checkpoint: a busy machine has taken more than 300


def run(learner, settings, folder):
    """Trains on one thread, in a run folder; returns the agent and a summary."""
    torch.set_num_threads(1)
    with Progress(disable=True) as progress:
        return learner.train(settings, folder, progress)


def new_run(learner, settings, runs):
    """Trains in a new run folder below a path; returns the agent and a summary."""
    return run(learner, settings, RunFolder.create(learner.NAME, settings, runs))


def finished_run(learner, settings, runs):
    """A run below a path to its end: its folder, agent and summary."""
    folder = RunFolder.create(learner.NAME, settings, runs)
    agent, summary = run(learner, settings, folder)
    agent.save(folder.final)
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
    torch.set_num_threads(1)
    folder = RunFolder.create(learner.NAME, settings, runs)
    with pytest.raises(KeyboardInterrupt):
        learner.train(settings, folder, InterruptedProgress(after))
    assert folder.load_checkpoint()[1]["episodes"] == after
    return folder


def killed_run(learner, settings, runs, after=0.0):
    """A run that is killed so many seconds after its first checkpoint; returns its folder."""
    folder = RunFolder.create(learner.NAME, settings, runs)
    arguments, options = command("train", learner.NAME, "--resume", str(folder.path), cwd=runs)
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
