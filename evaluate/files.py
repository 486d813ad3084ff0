"""Output files of commands: checked before the work, and each written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TextIO

from crib_env.files.whole_file import check_output, clear_parts, whole_file

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


def picture_paths(path: Path | None) -> tuple[Path, ...]:
    """The paths of a picture, ``curve.png`` and ``curve.svg``, for ``curve`` or either of them; none for ``None``."""
    if path is None:
        return ()
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
