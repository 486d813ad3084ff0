"""Files that a command writes: the folder is looked for before the work, and each is written whole or not at all."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

_ENDINGS = (".png", ".svg")


def check_folders(*files: Path | None) -> None:
    """Sees to it that files can be written, before hours are spent on what goes into them.

    Raises:
        ValueError: there is no folder for one of them.
    """
    for file in files:
        if file is not None and not file.parent.is_dir():
            raise ValueError(f"there is no folder {file.parent} to write {file.name} to")


def new_folder(folder: Path | None, parent: Path) -> Path:
    """Makes the folder of work that can be stopped and gone on with; without one ``<parent>/<time>``.

    Raises:
        ValueError: it is there already.
    """
    folder = folder or parent / time.strftime("%Y%m%d-%H%M%S")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise ValueError(f"{folder} is there already: go on with it by --resume, or give another") from None
    return folder


def picture_paths(path: Path | None) -> tuple[Path, ...]:
    """Where a picture goes: ``board.png`` and ``board.svg``, for ``board`` as for either of them; none for ``None``.

    Raises:
        ValueError: it has another ending.
    """
    if path is None:
        return ()
    if path.suffix not in ("", *_ENDINGS):
        raise ValueError(f"{path} is not allowed: a picture ends in .png or .svg, and is written as both")
    return tuple(path.with_suffix(ending) for ending in _ENDINGS)


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A text file under a temporary name, renamed when all is written; on an error it is taken away again."""
    temporary = path.with_name(path.name + ".part")
    try:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, every line ended."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def write_json(path: Path, content: Any) -> None:
    """Writes plain values for people and programs."""
    with whole_file(path) as file:
        file.write(json.dumps(content, indent=2) + "\n")
