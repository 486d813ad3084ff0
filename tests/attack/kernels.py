"""Compiled kernels on disk: processes that are killed, damaged files, full disks; old rules must never run."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from tests.attack import Attempts, Sizes
from tests.full_disk import full_disk
from tests.test_kernel_cache import choose, copy_of_the_package, finish, rewrite, start

TOGETHER = 8
RULE = "return same * (same - 1)", "return same * (same + 4)"  # points of cards of one rank
OLD, NEW = 22, 17  # the cards that `greedy` then chooses


def kernels(copy: Path, kind: str) -> list[Path]:
    """The listed files of kernels of a copy of the library, by the end of the name that Numba gives them."""
    lists = [(one.parent, json.loads(one.read_bytes())) for one in (copy / "kernels").glob("*/checksums")]
    named = [(at, *file) for at, kernels in lists for files in kernels.values() for file in files.items()]
    files = [at / f"{name}.{checksum}" for at, name, checksum in named if fnmatch(name, f"*{kind}")]
    return sorted(file for file in files if file.is_file())


def kill(copy: Path, dice: random.Random) -> None:
    """Eight processes begin on an empty folder, half of them are killed at any time; then one more chooses."""
    where = {"NUMBA_CACHE_DIR": str(copy / "kernels")}
    shutil.rmtree(copy / "kernels", ignore_errors=True)
    processes = [start(copy, **where) for _ in range(TOGETHER)]
    killed = dice.sample(processes, TOGETHER // 2)
    for process in killed:
        time.sleep(dice.uniform(0, 3))
        process.kill()
    for process in processes:
        if process in killed:
            process.communicate()
        else:
            assert finish(process)[0] == OLD, "another card beside killed processes"
    for _ in range(2):
        assert choose(copy, **where)[0] == OLD, "another card after a kill"


def _cut(file: Path, _other: Path, dice: random.Random) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: dice.randrange(len(content))])


def _swap(file: Path, other: Path, _dice: random.Random) -> None:
    one, two = file.read_bytes(), other.read_bytes()
    file.write_bytes(two)
    other.write_bytes(one)


def _flip(file: Path, _other: Path, dice: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    file.write_bytes(content)


def _make_unreadable(file: Path, _other: Path, _dice: random.Random) -> None:
    file.unlink()
    file.mkdir()  # nobody can read it, not even root


def _remove(file: Path, _other: Path, _dice: random.Random) -> None:
    file.unlink()


DAMAGES = (_cut, _swap, _flip, _make_unreadable, _remove)


def damage(copy: Path, do: Callable[[Path, Path, random.Random], None], dice: random.Random) -> None:
    """One file is damaged; the card is the same, and the process after the next compiles nothing."""
    where = {"NUMBA_CACHE_DIR": str(copy / "kernels")}
    assert choose(copy, **where) == (OLD, 0, ""), "kernels are compiled before any damage"
    file, other = dice.sample(kernels(copy, dice.choice((".nbi", ".nbc"))), 2)
    do(file, other, dice)
    content = file.read_bytes() if file.is_file() else None
    assert choose(copy, **where)[0] == OLD, f"another card with {file.name}"
    if "greedy_play" in file.name:  # nothing loads the others: what it calls is compiled into it
        is_listed = file in kernels(copy, ".nb?")
        assert not is_listed or file.read_bytes() != content, f"{file.name} is still in use"
    assert choose(copy, **where) == (OLD, 0, ""), f"{file.name} is not repaired"


def fill_disk(copy: Path, size: int) -> None:
    """A rule is edited, and the disk is full in the first run: files end at ``size``. Then there is space."""
    where, scoring = {"NUMBA_CACHE_DIR": str(copy / "kernels")}, copy / "crib_env" / "scoring.py"
    rewrite(scoring, *RULE)
    try:
        with full_disk(size):
            process = start(copy, **where)
        printed, said = process.communicate(timeout=600)
        assert printed.split()[:1] in ([], [str(NEW)]), "old rules on a full disk"
        assert printed or "File too large" in said, said[-500:]
        for _ in range(2):
            assert choose(copy, **where)[0] == NEW, "old rules after a full disk"
    finally:
        rewrite(scoring, *RULE[::-1])
    assert choose(copy, **where)[0] == OLD, "new rules of a file that is as before"


def attack(sizes: Sizes, seed: int) -> Iterator[Attempts]:
    """Kills, damages and full disks."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of_the_package(Path(folder))
        choose(copy, NUMBA_CACHE_DIR=str(copy / "kernels"))
        lengths = sorted(file.stat().st_size for file in kernels(copy, ".nb?"))
        found = Attempts("first runs after an edit of a rule, on a full disk, that played another rule")
        points = min(10, sizes.rounds)
        for k in range(points):
            found.make(fill_disk, copy, lengths[(2 * k + 1) * len(lengths) // (2 * points)] - 1)
        yield found
        found = Attempts("damaged files of kernels that were not compiled anew")
        for k in range(min(sizes.damages, 3 * sizes.rounds)):
            found.make(damage, copy, DAMAGES[k % len(DAMAGES)], dice)
        yield found
        found = Attempts("rounds of eight processes, half of them killed, with another card")
        for _ in range(sizes.rounds):
            found.make(kill, copy, dice)
        yield found
