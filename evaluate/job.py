"""Work that is kept, so that a stopped one goes on: the settings in its folder, and a lock on the folder or file."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crib_env.evaluate.files import plain, write_json
from crib_env.files.json_text import read_json
from crib_env.files.whole_file import PART, clear_parts

LOCK = ".lock"


class Job:
    """The settings of kept work, a frozen dataclass; ``config.json`` of its folder holds them."""

    KIND = ""
    """As in "the folder of a league"."""
    FOLDERS = Path()
    """Where folders are made by default."""

    def begin(self, folder: Path | None = None) -> Path:
        """Makes the folder of this job, by default ``FOLDERS/<time>``, or takes the one that it was begun in;
        ``ValueError`` names the first setting by which a folder is of something else."""
        if folder is None or not folder.exists():
            folder = new_folder(folder, self.FOLDERS)
        if all(path.suffix == PART or path.name == LOCK for path in folder.iterdir()):  # new, or killed at once
            write_json(folder / "config.json", self)
            return folder
        asked = plain(self)

        def build(content: dict[str, Any]) -> dict[str, Any]:  # no agent is made that a file names
            if unknown := content.keys() - asked.keys():
                raise ValueError(f"it has an unknown field {min(unknown)!r}")
            return {name: content[name] for name in asked}

        kept = read_json(folder / "config.json", f"{folder} is not the folder of a {self.KIND}", build)
        if other := difference(kept, self):
            raise ValueError(f"{folder} was begun with {other}: give another folder, or delete this one")
        return folder


def again(folder: Path) -> str:
    """The command line that goes on with the work of this one."""
    words = sys.argv[1:]
    named = any(word.rpartition("=")[2] == str(folder) for word in words)
    return shlex.join(["crib-env", *words, *([] if named else ["--folder", str(folder)])])


def difference(kept: Mapping[str, Any], asked: Any) -> str | None:
    """The first of the settings in a file that those asked for differ in; ``None`` if there is none."""
    now = json.loads(json.dumps(plain(asked)))
    others = (f"{name}={value!r}, not {now.get(name)!r}" for name, value in kept.items() if now.get(name) != value)
    return next(others, None)


def new_folder(folder: Path | None, parent: Path) -> Path:
    """Makes the folder for work that can be resumed, by default ``<parent>/<time>``; it must not exist."""
    folder = folder or parent / time.strftime("%Y%m%d-%H%M%S")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise ValueError(f"{folder} exists already: continue it with --resume, or give another") from None
    return folder


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Locks a folder, or a file that need not exist yet, and removes half-written files of a killed process.

    The system releases the lock when a process ends, also by a kill.

    Raises:
        ValueError: another process works there.
    """
    from filelock import FileLock, Timeout

    at = lock_of(path)
    lock = FileLock(at, timeout=0)
    try:
        lock.acquire()
        with open(at, "w", encoding="utf-8") as file:
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
    except Timeout:
        holder = at.read_text(encoding="utf-8") or "another process"
        raise ValueError(f"{path} is in use by {holder}: one at a time may work in it") from None
    except NotImplementedError:
        print(f"{path} lies where files cannot be locked: let no other process work in it", file=sys.stderr)
    try:
        clear_parts(path) if path.is_dir() else clear_parts(path.parent, path.name)
        yield
    finally:
        lock.release()


def lock_of(path: Path) -> Path:
    """The file on which a folder or a file is locked."""
    return path / LOCK if path.is_dir() else path.with_name(f".{path.name}{LOCK}")
