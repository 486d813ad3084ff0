"""Runs tests on changed copies of the source."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.mutants.change import Change

ROOT = Path(__file__).parents[2]
_PACKAGES = ("agents", "evaluate", "train")  # they stand beside crib_env/, and in the copy in it, as in an installation
_SECONDS = 600
_FAILED = 1  # pytest's exit status where tests ran and failed; others say that it could not run them


class Result(NamedTuple):
    """What the tests made of a change."""

    change: Change
    status: int
    """Pytest's exit status."""
    output: str

    @property
    def verdict(self) -> str:
        """``killed``, ``survived``, or that the tests could not be run."""
        return {0: "survived", _FAILED: "killed"}.get(self.status, f"not tested (status {self.status})")


def copy_tree(folder: Path, beside: Sequence[str] = ("tests", "examples")) -> None:
    """Copies the package and folders beside it into a new folder, with the kernels compiled so far."""
    ignored = shutil.ignore_patterns(".*", "node_modules")
    for name in ("crib_env", *beside):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in _PACKAGES:
        shutil.copytree(ROOT / name, folder / "crib_env" / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)


def place_in_copy(folder: Path, file: str) -> Path:
    """Where a source file, named as in the checkout, stands in the copy."""
    return folder / ("crib_env" if file.startswith(_PACKAGES) else "") / file


def run_changed(folder: Path, change: Change) -> Result:
    """Makes a change in a copy, runs its tests there, and takes it back."""
    file = place_in_copy(folder, change.file)
    source = file.read_text()
    file.write_text(changed(source, change))
    try:
        return run_tests(folder, change)
    finally:
        file.write_text(source)


def run_tests(folder: Path, change: Change) -> Result:
    """Runs the tests of a change in a copy as it stands."""
    variables = {**os.environ, "NUMBA_DISABLE_JIT": "0" if change.compiled else "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    try:
        done = subprocess.run(
            [*command, *shlex.split(change.tests)],
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        return Result(change, done.returncode, done.stdout + done.stderr)
    except subprocess.TimeoutExpired:
        return Result(change, _FAILED, "the tests did not end")


def changed(source: str, change: Change) -> str:
    """The source with the change.

    Raises:
        ValueError: what the change replaces does not stand there exactly once.
    """
    if (n := source.count(change.old)) != 1:
        raise ValueError(f"{change.file} has {change.old!r} {n} times, not once: mend it in tests/mutants")
    return source.replace(change.old, change.new)


def run_all(changes: Sequence[Change], folder: Path, jobs: int) -> Iterator[Result]:
    """The results in the order of ``changes``; each of ``jobs`` workers has a copy in ``folder``.

    Raises:
        ValueError: tests fail on the source as it is, so their failure would say nothing.
    """
    copies: SimpleQueue[Path] = SimpleQueue()
    for k in range(jobs):
        copy_tree(folder / str(k))
        copies.put(folder / str(k))

    def in_a_copy(run: Callable[[Path, Change], Result], change: Change) -> Result:
        mine = copies.get()
        try:
            return run(mine, change)
        finally:
            copies.put(mine)

    with ThreadPoolExecutor(jobs) as pool:
        selections = {(change.tests, change.compiled): change for change in changes}
        for unchanged in pool.map(partial(in_a_copy, run_tests), selections.values()):
            if unchanged.status:
                raise ValueError(f"{unchanged.change.tests} fails without any change:\n{unchanged.output}")
        yield from pool.map(partial(in_a_copy, run_changed), changes)
