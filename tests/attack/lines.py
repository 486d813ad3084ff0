"""Hostile command lines: each must be refused in words, before any work, without a file."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from crib_env.evaluate.__main__ import load
from crib_env.evaluate.__main__ import main as evaluate
from crib_env.train.__main__ import main as train
from crib_env.train.registry import LEARNERS, learner_named, presets_of
from tests.attack import Attempts, Sizes
from tests.helpers.command_lines import NEEDED, answer, bad_numbers, fault_of, numbers_of

NO_AGENTS = (
    "", "nobody", "../..", "/etc/passwd", "a" * 5_000, "🂡", "::::", "greedy:depth=3", "random:seed=-1",
    "random:seed=nan", "ismcts:iterations=0", "ismcts:iterations=1e99", "ismcts:iterations=" + "9" * 400,
    "expert:hands=0", "ddqn:/nowhere", "td:" + __file__, "best:win_table=/nowhere", "os:system", "no_such_module:Agent",
    "pipe:",
)  # fmt: skip
NO_NUMBERS = ("", "x", "1e", "0x10", "½", "1" * 5_000)


def attack(sizes: Sizes, seed: int) -> Iterator[Attempts]:
    """Of all commands and learners; a sample if these are too many."""
    lines = list(hostile_lines())
    random.Random(seed).shuffle(lines)
    found = Attempts("hostile command lines that were not refused")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for main, words in lines[: sizes.lines]:
                found.make(refuse, main, words)
        finally:
            os.chdir(before)
    yield found


def refuse(main: Callable[[], None], words: list[str]) -> None:
    """Raises an error unless the line is refused."""
    try:
        if fault := fault_of(answer(main, words)):
            raise ValueError(fault)
        if made := os.listdir():
            raise ValueError(f"it made {made}")
    finally:
        for path in Path().iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def hostile_lines() -> Iterator[tuple[Callable[[], None], list[str]]]:
    """Every command with numbers out of range, words for numbers, agents that cannot be, and unknown words."""
    for name, needed in NEEDED.items():
        words = [*name.split(), *needed]
        yield evaluate, [*words, "--no-such-option", "1"]
        yield evaluate, [*words, "--no-such-option"]
        yield evaluate, [words[0] + "x", *words[1:]]
        for number in numbers_of(load(name)):
            for value in (*bad_numbers(number), *NO_NUMBERS):
                yield evaluate, [*words, *number.given(value)]
            yield evaluate, [*words, number.given(1)[0]]
        for place, word in enumerate(needed):
            if word in ("greedy", "random"):
                for agent in NO_AGENTS:
                    yield evaluate, [*name.split(), *needed[:place], agent, *needed[place + 1 :]]
    for name in LEARNERS:
        yield train, [name, "--no-such-option", "1"]
        yield train, [name, "--resume", "nowhere"]
        yield train, [name + "x"]
        for number in numbers_of(type(presets_of(learner_named(name))["default"])):
            for value in (*bad_numbers(number), *NO_NUMBERS):
                yield train, [name, *number.given(value)]
