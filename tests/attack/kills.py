"""Learners and long commands are killed, go on, and must come to what they come to without a kill."""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.attack import Attempts, Sizes
from tests.helpers.killed_runs import KINDS, kill_and_compare
from tests.helpers.learner_runs import command

ONE = "--threads 1"
SMALL = "tests.helpers.small_commands"


class Long(NamedTuple):
    """A command that works long, in the current folder."""

    begin: str
    go_on: str = ""
    """The command after a kill, if it is another one."""


SMALL_TD = "--hidden 16 --evaluations 1 --evaluation-games 20 --final-games 20"
CALIBRATION = "c.json --agent greedy --pairs 3 --games 200 --positions 3 --deals 200"
COMMANDS = {
    "match": Long(f"evaluate match expert:hands=50 greedy --games 200 --record g.jsonl --json m.json {ONE}"),
    "league": Long(f"evaluate league greedy random expert:hands=20 --games 100 --folder a {ONE}"),
    "suite": Long(f"evaluate suite careful --share 0.01 --skip time pegging --folder a {ONE}"),
    "dataset": Long(f"evaluate dataset a --agents greedy careful --games 5000 {ONE}"),
    "papers": Long(f"crib_env.evaluate.makers.papers mueller-1987 --quick --folder a {ONE}"),
    "train --seeds": Long(
        f"train td --seeds 2 --episodes 20000 --checkpoint-seconds 0 {SMALL_TD} --folder a", "train td --resume a"
    ),
    "maker of the luck table": Long(f"{SMALL} luck l.npz --agent greedy --deals 20000"),
    "maker of the win table": Long(f"{SMALL} win_table w.npz --agent greedy --deals 20 {ONE}"),
    "calibration": Long(f"crib_env.evaluate.makers.calibration {CALIBRATION} {ONE}"),
    "solve play": Long(f"{SMALL} solve play play --cards 3 --nash-conv 0.002 --json p.json {ONE}"),
}
_TIMES = [
    "seconds",
    "processor_seconds",
    "microseconds_per_decision",
    "microseconds",
    "episodes_per_second",
]


def attack(sizes: Sizes, seed: int) -> Iterator[Attempts]:
    """All learners, and the long commands."""
    draw = random.Random(seed)
    for name, kind in list(KINDS.items())[: sizes.most]:
        found = Attempts(f"kills of train {name} after which it came to something else")
        for _ in range(sizes.kills):
            with tempfile.TemporaryDirectory() as folder:
                found.make(kill_and_compare, kind, Path(folder), draw.uniform(0, 0.3))
        yield found
    for name, long in list(COMMANDS.items())[: sizes.most]:
        found = Attempts(f"kills of {name} after which it came to something else")
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder, "whole")
            seconds = run(long.begin, whole)
            for k in range(sizes.kills):
                found.make(kill_command, long, whole, Path(folder, str(k)), seconds * draw.uniform(0.3, 0.95))
        yield found


def run(words: str, folder: Path) -> float:
    """Runs a command to its end in a folder; returns its seconds."""
    folder.mkdir(exist_ok=True)
    line, options = command(*words.split(), cwd=folder)
    started = time.monotonic()
    subprocess.run(line, check=True, capture_output=True, **options)
    return time.monotonic() - started


def kill_command(long: Long, whole: Path, folder: Path, after: float) -> None:
    """Kills a command after some seconds, goes on, and compares its files with those of an uninterrupted one."""
    folder.mkdir()
    line, options = command(*long.begin.split(), cwd=folder)
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options) as process:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.kill()
    has_begun = not long.go_on or (folder / "a" / "config.json").exists()
    run(long.go_on if long.go_on and has_begun else long.begin, folder)
    found, expected = (contents(one) for one in (folder, whole))
    assert found.keys() == expected.keys(), f"other files: {sorted(found.keys() ^ expected.keys())}"
    for name, content in expected.items():
        assert found[name] == content, f"{name} differs"


def contents(folder: Path) -> dict[str, Any]:
    """The files of a folder that hold results, without times."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".json":
            found[name] = untimed(json.loads(path.read_text()))
        elif path.suffix in (".jsonl", ".npz", ".parquet", ".safetensors") and "checkpoints" not in path.parts:
            found[name] = path.read_bytes()
        elif path.suffix == ".part":
            found[name] = "left half written"
    return found


def untimed(content: Any) -> Any:
    """JSON without the fields that hold times."""
    if isinstance(content, dict):
        return {key: untimed(value) for key, value in content.items() if key not in _TIMES}
    return [untimed(value) for value in content] if isinstance(content, list) else content
