"""The blocks of docs/other-loops.md work as pasted, where the library is installed."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "other-loops.md").read_text()
WRAPPER, *BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
LIBRARIES = ("torchrl", "tianshou", "ray", "agilerl", "supersuit")


def test_there_is_a_block_for_each_library():
    assert len(BLOCKS) == len(LIBRARIES)


@pytest.mark.parametrize("block", BLOCKS, ids=LIBRARIES)
def test_block(block):
    namespace = {}
    exec(compile(WRAPPER, "other-loops.md", "exec"), namespace)
    try:
        exec(compile(block, "other-loops.md", "exec"), namespace)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] not in LIBRARIES:
            raise
        pytest.skip(f"{error.name} is not installed")
