"""A newcomer's first two commands need no more than the extras that the Makefile installs for them."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
# Imports of packages outside the extra fail as they do where these are not installed.
RUN = """
import runpy, sys
sys.modules.update(dict.fromkeys({missing!r}))
sys.argv = {arguments!r}
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def required(name: str, extras: frozenset[str], found: dict[str, set[str]]) -> dict[str, set[str]]:
    """All distributions that one with some extras brings along, by name, with their extras; adds to ``found``."""
    known = found.setdefault(name.lower().replace("_", "-"), set())
    if known >= {"", *extras}:
        return found
    known |= {"", *extras}
    try:
        needs = [Requirement(line) for line in requires(name) or []]
    except PackageNotFoundError:  # for another system
        return found
    for need in needs:
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            required(need.name, frozenset(need.extras), found)
    return found


def missing_without(extra: str) -> set[str]:
    """Modules that are installed here and that the extra does not bring."""
    brought = set(required("crib-env", frozenset({extra}), {}))
    return {
        module
        for module, owners in packages_distributions().items()
        if module not in sys.stdlib_module_names and not any(o.lower().replace("_", "-") in brought for o in owners)
    }


def run(extra: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    code = RUN.format(missing=missing_without(extra), arguments=list(arguments))
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input="",
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_extras_leave_out_what_developers_need():
    for extra in ("train", "play"):
        missing = missing_without(extra)
        assert {"pytest", "mypy", "playwright", "hypothesis", "stable_baselines3"} <= missing
        assert not {"numba", "torch", "gymnasium", "pettingzoo"} & missing


@pytest.mark.parametrize(
    ("extra", "arguments", "says"),
    [
        (
            "train",
            ["train", "ddqn", "--episodes", "64", "--evaluations", "0", "--final-games", "20"],
            "learning-curve.png",
        ),
        ("play", ["evaluate", "play", "greedy", "--terminal", "--seed", "1"], "your hand"),
    ],
)
def test_the_command_runs_with_its_extra_alone(extra, arguments, says, tmp_path):
    done = run(extra, *arguments, folder=tmp_path)
    assert done.returncode in (0, 130), done.stderr
    assert says in (done.stdout + done.stderr).lower()


def test_a_package_outside_the_extra_is_missing(tmp_path):
    assert "stable_baselines3" in missing_without("play")
    done = run("play", "stable_baselines3", folder=tmp_path)
    assert (done.returncode, "stable_baselines3" in done.stderr) == (1, True)
