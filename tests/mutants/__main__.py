"""Each change of ``changes.txt`` is made in a copy of the source, and the quick tests named beside it run there.

They must fail: a change that passes them has survived.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_PACKAGES = ("agents", "evaluate", "train")  # they stand beside crib_env/, and in the copy in it, as in an installation
_SECONDS = 600
_FAILED = 1  # pytest's exit status where tests ran and failed; others say that it could not run them


class Change(NamedTuple):
    """A piece of a source file that is replaced."""

    what: str
    file: str
    old: str
    """Stands in the file exactly once."""
    new: str
    tests: str
    """Arguments of pytest."""
    compiled: bool = False
    """Whether kernels are compiled; else they run as plain Python, which saves most of the time."""

    def made_in(self, source: str) -> str:
        """The source with the change."""
        if (n := source.count(self.old)) != 1:
            raise ValueError(f"{self.file} has {self.old!r} {n} times, not once: mend it in tests/mutants")
        return source.replace(self.old, self.new)


def _read(path: Path) -> tuple[Change, ...]:
    change = re.compile(r"^(?P<what>[^-+\n].*)\n(?P<old>(?:-.*\n)+)(?P<new>(?:\+.*\n)*)", re.MULTILINE)
    found = []
    for part in path.read_text(encoding="utf-8").split("\n== ")[1:]:
        head, _, body = f"{part}\n".partition("\n")
        file, tests, *compiled = head.split(" == ")
        for one in change.finditer(body):
            old, new = ("\n".join(line[1:] for line in one[name].splitlines()) for name in ("old", "new"))
            found.append(Change(one["what"], file, old, new, tests, bool(compiled)))
    return tuple(found)


CHANGES = _read(Path(__file__).with_name("changes.txt"))


def copy_source(folder: Path) -> None:
    """Copies source and tests into a new folder, with the kernels compiled so far."""
    ignored = shutil.ignore_patterns(".*", "node_modules")
    for name in ("crib_env", "tests", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in _PACKAGES:
        shutil.copytree(ROOT / name, folder / "crib_env" / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)


def run_tests(folder: Path, change: Change) -> tuple[int, str]:
    """Pytest's exit status and output for the tests of a change, in a copy as it stands."""
    variables = {**os.environ, "NUMBA_DISABLE_JIT": "0" if change.compiled else "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    command += shlex.split(change.tests)
    try:
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return _FAILED, "the tests did not end"
    return done.returncode, done.stdout + done.stderr


def run_changed(folder: Path, change: Change) -> tuple[int, str]:
    """The same with the change, which is taken back."""
    file = folder / ("crib_env" if change.file.startswith(_PACKAGES) else "") / change.file
    source = file.read_text()
    file.write_text(change.made_in(source))
    try:
        return run_tests(folder, change)
    finally:
        file.write_text(source)


def main() -> int:
    """Runs the changes, each of some workers in a copy of its own, and returns how many were not killed."""
    parser = argparse.ArgumentParser("python -m tests.mutants", description=__doc__)
    parser.add_argument("files", nargs="*", help="changes of files with these words in their paths; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many run side by side")
    parser.add_argument("--verbose", action="store_true", help="what pytest says of changes that were not killed")
    asked = parser.parse_args()
    changes = [one for one in CHANGES if not asked.files or any(word in one.file for word in asked.files)]
    counts: Counter[str] = Counter()
    copies: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.jobs) as pool:
        for k in range(asked.jobs):
            copy_source(Path(folder, str(k)))
            copies.put(Path(folder, str(k)))

        def in_a_copy(run, change):
            mine = copies.get()
            try:
                return run(mine, change)
            finally:
                copies.put(mine)

        selections = {(change.tests, change.compiled): change for change in changes}.values()
        for one, (status, output) in zip(selections, pool.map(lambda one: in_a_copy(run_tests, one), selections)):
            if status:
                raise ValueError(f"{one.tests} fails without any change:\n{output}")
        for one, (status, output) in zip(changes, pool.map(lambda one: in_a_copy(run_changed, one), changes)):
            verdict = {0: "survived", _FAILED: "killed"}.get(status, f"not tested (status {status})")
            counts[verdict] += 1
            print(f"{verdict}: {one.file}: {one.what}", flush=True)
            if asked.verbose and verdict != "killed":
                print(output)
    print(", ".join(f"{n} {verdict}" for verdict, n in counts.items()))
    return len(changes) - counts["killed"]


if __name__ == "__main__":
    sys.exit(min(main(), 1))
