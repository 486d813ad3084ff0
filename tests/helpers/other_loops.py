"""The programs of docs/train/other-loops.md, by the library that they are for."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "train" / "other-loops.md").read_text()
_BLOCKS = [
    (re.split("[,\n]", section)[0], block)
    for section in re.split("^### ", PAGE, flags=re.MULTILINE)[1:]
    for block in re.findall(r"```python\n(.*?)```", section, re.DOTALL)
]
LIBRARIES = {library for library, _ in _BLOCKS}


def blocks_of(library: str) -> list[str]:
    """The programs under the headings of a library."""
    return [block for of, block in _BLOCKS if of == library]


def run_block(block: str, **given: object) -> None:
    """Runs a program as if pasted into a file of its own, where some names are given."""
    exec(compile(block, "other-loops.md", "exec"), {"__name__": "__main__", **given})
