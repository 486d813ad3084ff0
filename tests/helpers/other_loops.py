"""The programs of docs/train/other-loops.md and of examples/loops, by the library that they are for."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "train" / "other-loops.md").read_text()
_OF_FILES = {"agilerl": "AgileRL", "rllib": "RLlib", "tianshou": "Tianshou", "torchrl": "TorchRL"}
_BLOCKS = [
    (re.split("[,\n]", section)[0], block)
    for section in re.split("^### ", PAGE, flags=re.MULTILINE)[1:]
    for block in re.findall(r"```python\n(.*?)```", section, re.DOTALL)
]
_BLOCKS += [
    (_OF_FILES[path.stem.partition("_")[0]], path.read_text())
    for path in sorted((ROOT / "examples" / "loops").glob("*.py"))
]


def blocks_of(library: str) -> list[str]:
    """The programs under the headings of a library, and those in its files."""
    return [block for of, block in _BLOCKS if of == library]


def run_block(block: str, **given: object) -> None:
    """Runs a program as if pasted into a file of its own, where some names are given."""
    exec(compile(block, "other-loops.md", "exec"), {"__name__": "__main__", **given})
