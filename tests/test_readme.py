"""The README's Python works as pasted."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_there_are_examples():
    assert len(BLOCKS) == 1


def test_it_is_one_screen_and_a_half():
    assert len(README.splitlines()) < 75


@pytest.mark.parametrize("block", BLOCKS)
def test_example(block):
    exec(compile(block, "README.md", "exec"), {})
