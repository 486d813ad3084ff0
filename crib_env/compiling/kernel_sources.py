"""The source files that a kernel depends on."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
# `from a.b import c, d`, also over several lines in parentheses, and `import a.b, c`.
_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|.*)|import\s+([\w., ]+))", re.MULTILINE)


@cache
def _read(file: Path) -> tuple[bytes, tuple[Path, ...]]:
    """A checksum of a source file, and the files of this project that it imports."""
    content = file.read_bytes()
    modules: list[str] = []
    for source, names, plain in _IMPORT.findall(content.decode()):
        modules += re.findall(r"[\w.]+", plain) if plain else [source]
        modules += [f"{source}.{name}" for name in re.findall(r"\w+", names)]
    return hashlib.sha256(content).digest(), tuple(path for path in map(_file_of, modules) if path)


@cache
def _file_of(module: str) -> Path | None:
    """The source file of a module of this project, ``None`` for others.

    In a checkout ``agents/``, ``evaluate/`` and ``train/`` stand beside this package and not in it.
    """
    package, _, name = module.partition(".")
    if package != _PACKAGE.name:
        return None
    roots = [_PACKAGE] if _PACKAGE.parent.name in ("site-packages", "dist-packages") else [_PACKAGE, _PACKAGE.parent]
    paths = [root.joinpath(*name.split(".")) for root in roots]
    files = [file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py")]
    return next((file for file in files if file.is_file()), None)


@cache
def source_stamp(file: Path) -> str:
    """A checksum of a source file and of all that it imports, directly or not, independent of their folder.

    Numba itself checks only the file of the function. After an update, a kernel could then still contain rules
    that were inlined from the old version of another file.
    """
    found: dict[Path, bytes] = {}
    to_read = [file]
    while to_read:
        path = to_read.pop()
        if path not in found:
            found[path], imported = _read(path)
            to_read += imported
    return hashlib.sha256(b"".join(sorted(found.values()))).hexdigest()
