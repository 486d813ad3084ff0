"""Files that commands write, each whole or not at all; and kept work, so that stopped work goes on.

Kept work has its settings in ``config.json`` of its folder, and a lock on the folder or file.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TextIO

from crib_env.files.json_text import read_json
from crib_env.files.whole_file import PART, check_output, clear_parts, whole_file

LOCK = ".lock"
_ENDINGS = (".png", ".svg")


def check_outputs(*files: Path | None) -> None:
    """Checks that files can be written (:func:`crib_env.files.whole_file.check_output`), and that no two are the same,
    before hours of work go into their content; removes halves of killed processes."""
    targets: set[Path] = set()
    for file in filter(None, files):
        target = check_output(file)
        if target in targets:
            raise ValueError(f"{file} would be written twice: give two different files")
        targets.add(target)
    for target in targets:
        clear_parts(target.parent, target.name)


def picture_paths(path: Path) -> tuple[Path, ...]:
    """The paths of a picture, ``curve.png`` and ``curve.svg``, for ``curve`` or either of them."""
    if path.suffix not in ("", *_ENDINGS):
        raise ValueError(f"{path} is not allowed: a picture ends in .png or .svg, and is written as both")
    return tuple(path.with_suffix(ending) for ending in _ENDINGS)


@contextmanager
def whole_text(path: Path) -> Iterator[TextIO]:
    """A text file that appears under its name when complete, see :func:`crib_env.files.whole_file.whole_file`."""
    with whole_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        yield file


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, with a line break after every line."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def write_json(path: Path, content: Any) -> None:
    """Writes values as JSON, whole or not at all; NamedTuples and dataclasses as objects by field."""
    with whole_text(path) as file:
        file.write(json.dumps(plain(content), indent=2) + "\n")


def plain(value: Any) -> Any:
    """A value with NamedTuples and dataclasses as dictionaries, arrays as lists, and with all that they contain; see
    :func:`crib_env.values.typed` for the way back."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


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
