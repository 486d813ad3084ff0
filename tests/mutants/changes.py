"""The changes of ``changes.txt``: a wrong piece of a source file each, and quick tests that must fail because of it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.mutants.change import Change

_CHANGE = re.compile(r"^(?P<what>[^-+\n].*)\n(?P<old>(?:-.*\n)+)(?P<new>(?:\+.*\n)*)", re.MULTILINE)


def _lines(marked: str) -> str:
    return "\n".join(line[1:] for line in marked.splitlines())


def _read(path: Path) -> tuple[Change, ...]:
    changes = []
    for part in path.read_text(encoding="utf-8").split("\n== ")[1:]:
        head, _, body = f"{part}\n".partition("\n")
        file, tests, *compiled = head.split(" == ")
        for one in _CHANGE.finditer(body):
            changes.append(Change(one["what"], file, _lines(one["old"]), _lines(one["new"]), tests, bool(compiled)))
    return tuple(changes)


CHANGES = _read(Path(__file__).with_name("changes.txt"))
