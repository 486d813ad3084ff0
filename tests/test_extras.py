"""Commands need no more than their extra, and without it name it."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata, packages_distributions, requires
from itertools import takewhile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from crib_env.distribution import extra_of

ROOT = Path(__file__).parents[1]
# Imports of packages outside the extra fail as they do where these are not installed.
RUN = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    finders = list(sys.meta_path)

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in {missing!r}:
            return next(filter(None, (finder.find_spec(name, path, target) for finder in cls.finders)), None)

sys.meta_path[:] = [Without]
from crib_env.train.__main__ import crib_env as main
for arguments in {lines!r}:
    sys.argv = ["crib-env", *arguments]
    try:
        main()
    except SystemExit as end:
        if end.code:
            print("status", end.code, file=sys.stderr)
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


owners_of_modules = cache(packages_distributions)


@cache
def missing_without(extra: str) -> set[str]:
    """Modules that are installed here and that the extra does not bring."""
    brought = set(required("crib-env", frozenset({extra}), {}))
    return {
        module
        for module, owners in owners_of_modules().items()
        if module not in sys.stdlib_module_names and not any(o.lower().replace("_", "-") in brought for o in owners)
    }


def run(extra: str, *lines: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs commands in one process that has no more than an extra."""
    code = RUN.format(missing=missing_without(extra), lines=list(lines))
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input="",
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_every_extra_of_users_is_named_by_its_packages():
    for_users = takewhile(lambda extra: extra != "dev", metadata("crib-env").get_all("Provides-Extra"))
    brought = {"torch": "agents", "starlette": "play", "tensorboard": "train", "choix": "train"}
    brought |= {"sb3_contrib": "workbench", "PIL": "render", "pygame": "render", "moviepy": "render"}
    brought |= {"pyarrow.parquet": "datasets", "httpx": "llm", "mcp": "mcp"}
    brought |= {"joblib": "cluster", "ray": "cluster", "distributed": "cluster"}
    assert {module: extra_of(module) for module in brought} == brought
    assert set(for_users) == {*brought.values(), "gpu"}
    assert (extra_of("pytest"), extra_of("my_agent"), extra_of(None)) == ("dev", None, None)


@pytest.mark.parametrize(
    ("extra", "arguments", "says"),
    [
        pytest.param(
            "train",
            ["train", "ddqn", "--episodes", "64", "--evaluations", "0", "--final-games", "20"],
            "weights: ",
            marks=pytest.mark.slow,
        ),
        ("play", ["play", "greedy", "--terminal", "--seed", "1"], "your hand"),
        ("", ["match", "greedy", "careful", "--games", "2"], "careful"),
    ],
)
def test_the_command_runs_with_its_extra_alone(extra, arguments, says, tmp_path):
    done = run(extra, arguments, folder=tmp_path)
    assert done.returncode in (0, 130), done.stderr
    assert "error: " not in done.stderr
    assert says in (done.stdout + done.stderr).lower()


WITHOUT = {
    "match best greedy": "agent 'best' is a network and needs torch: install crib_env with its extra 'agents'",
    "play best": "the page needs uvicorn: install crib_env with its extra 'play', or play with --terminal",
    "train td": "this needs tensorboard: install crib_env with its extra 'train'",
    "league greedy random": "this needs choix: install crib_env with its extra 'train'",
    "play mcp": "this needs mcp: install crib_env with its extra 'mcp'",
    "dataset d --agents greedy random": "a dataset needs pyarrow: install crib_env with its extra 'datasets'",
}


def test_a_command_without_its_extra_names_it(tmp_path):
    done = run("", *(line.split() for line in WITHOUT), folder=tmp_path)
    assert done.stderr.splitlines() == [line for says in WITHOUT.values() for line in (f"error: {says}", "status 2")]
    assert not list(filter(Path.is_file, tmp_path.rglob("*")))
