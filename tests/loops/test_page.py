"""The blocks of docs/other-loops.md work as pasted, where the library is installed."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "other-loops.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
SECTIONS = (
    *("sb3", "cleanrl", "torchrl-one-player", "tianshou-one-player", "rllib-one-player"),
    *("torchrl", "tianshou", "rllib", "agilerl", "supersuit"),
)
# Not in every environment: the workbench has the first two, each extra has one of the others.
OPTIONAL = ("sb3_contrib", "torch", "torchrl", "tianshou", "ray", "agilerl", "supersuit")


def test_there_is_a_block_for_each_library():
    assert len(BLOCKS) == len(SECTIONS)


@pytest.mark.parametrize("block", BLOCKS, ids=SECTIONS)
def test_block(block):
    try:
        exec(compile(block, "other-loops.md", "exec"), {"__name__": "__main__"})
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] not in OPTIONAL:
            raise
        pytest.skip(f"{error.name} is not installed")
