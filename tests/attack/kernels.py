"""Compiled kernels on disk: processes that are killed, damaged files, full disks; old rules must never run."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.attack.attempts import Attempts, Sizes
from tests.full_disk import full_disk

ROOT = Path(__file__).parents[2]
TOGETHER = 8
GAMES = """
import hashlib, crib_env
batch = crib_env.GameBatch(crib_env.streams(1, 2_000))
while len(rows := batch.acting()):
    batch.step(rows, batch.native_cards(rows, 0))
print(hashlib.sha256(batch.games.tobytes()).hexdigest())
"""
EDIT = "return same * (same - 1)", "return same * (same + 4)"  # points of cards of one rank


class Copy:
    """A copy of the library whose rules can be edited, and its folder of kernels."""

    def __init__(self, folder: Path):
        self.folder, self.kernels = folder, folder / "kernels"
        shutil.copytree(ROOT / "crib_env", folder / "crib_env", ignore=shutil.ignore_patterns("__pycache__"))

    def edit(self, old: str, new: str) -> None:
        """Changes a rule; neither the length nor the time of the file shows it."""
        file = self.folder / "crib_env" / "scoring.py"
        times = file.stat().st_atime, file.stat().st_mtime
        file.write_text(file.read_text().replace(old, new))
        os.utime(file, times)

    def start(self) -> subprocess.Popen[str]:
        """Begins to play 2,000 games."""
        # Python's own cache goes by the length and the time of a file, which `edit` keeps.
        options = {
            **os.environ,
            "NUMBA_CACHE_DIR": str(self.kernels),
            "CRIB_ENV_QUIET": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-c", GAMES]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.folder, env=options, text=True, stdout=pipe, stderr=pipe)

    def play(self) -> tuple[str, str]:
        """The digest of 2,000 games, and what was said."""
        return finish(self.start())

    def clear(self) -> None:
        """Removes all compiled kernels."""
        shutil.rmtree(self.kernels, ignore_errors=True)

    def files(self, ending: str) -> list[Path]:
        """Files of kernels."""
        return sorted(self.kernels.rglob(f"*{ending}"))


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The digest that a process prints, and what it says."""
    digest, said = process.communicate(timeout=600)
    assert process.returncode == 0, said[-500:]
    return digest.strip(), said


def kill(copy: Copy, digest: str, dice: random.Random) -> None:
    """Eight processes begin on an empty folder, half of them are killed at any time; then one more plays."""
    copy.clear()
    begun = time.monotonic()
    processes = [copy.start() for _ in range(TOGETHER)]
    killed = dice.sample(processes, TOGETHER // 2)
    for process in killed:
        time.sleep(dice.uniform(0, 3))
        process.kill()
    for process in processes:
        if process in killed:
            process.communicate()
        else:
            found, _ = finish(process)
            assert found == digest, f"other games beside killed processes, {time.monotonic() - begun:.0f} s later"
    for _ in range(2):
        assert copy.play()[0] == digest, "other games after a kill"


def _cut(file: Path, _other: Path, dice: random.Random) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: dice.randrange(1, len(content))])


def _empty(file: Path, _other: Path, _dice: random.Random) -> None:
    file.write_bytes(b"")


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


DAMAGES = (_cut, _empty, _swap, _flip, _make_unreadable, _remove)


def damage(copy: Copy, digest: str, do: Callable[[Path, Path, random.Random], None], dice: random.Random) -> None:
    """One file is damaged; the games are the same, one line says so, and the next process has nothing to say."""
    assert copy.play() == (digest, ""), "kernels are compiled before any damage"
    file, other = dice.sample(copy.files(dice.choice((".nbi", ".nbc"))), 2)
    do(file, other, dice)
    found, said = copy.play()
    assert found == digest, f"other games with {file.name}"
    assert said.count("not as they were written") == 1, said
    assert copy.play() == (digest, ""), f"{file.name} is not repaired"


def fill_disk(copy: Copy, digests: tuple[str, str], size: int) -> None:
    """A rule is edited, and the disk is full in the first run: files end at ``size``. Then there is space."""
    copy.edit(*EDIT)
    try:
        with full_disk(size):
            process = copy.start()
        printed, said = process.communicate(timeout=600)
        assert printed.strip() in ("", digests[1]), "old rules on a full disk"
        assert printed or "File too large" in said, said[-500:]
        for _ in range(2):
            assert copy.play()[0] == digests[1], "old rules after a full disk"
    finally:
        copy.edit(*EDIT[::-1])
    assert copy.play()[0] == digests[0], "new rules of a file that is as before"


def attack(sizes: Sizes, seed: int) -> Iterator[Attempts]:
    """Kills, damages and full disks."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        copy.edit(*EDIT)
        new = copy.play()[0]
        copy.edit(*EDIT[::-1])
        old = copy.play()[0]
        lengths = sorted(file.stat().st_size for file in copy.files(".nb?"))
        found = Attempts("first runs after an edit of a rule, on a full disk, that played another rule")
        if old == new:
            found.faults.append("the edit changes nothing")
        points = min(10, sizes.rounds)
        for k in range(points):
            found.make(fill_disk, copy, (old, new), lengths[(2 * k + 1) * len(lengths) // (2 * points)] - 1)
        yield found
        found = Attempts("damaged files of kernels that were not compiled anew")
        for k in range(min(sizes.damages, 3 * sizes.rounds)):
            found.make(damage, copy, old, DAMAGES[k % len(DAMAGES)], dice)
        yield found
        found = Attempts("rounds of eight processes, half of them killed, with other games")
        for _ in range(sizes.rounds):
            found.make(kill, copy, old, dice)
        yield found
