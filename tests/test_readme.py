"""The README's Python works as pasted, its files exist, and it is short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_there_are_examples():
    assert len(BLOCKS) == 1


def test_it_is_one_screen_and_a_half():
    assert len(README.splitlines()) < 75


def test_its_links_and_pictures_are_files():
    named = re.findall(r"\]\((?!http)([^)#]+)\)|src=\"([^\"]+)\"", README)
    missing = [name for names in named for name in names if name and not (ROOT / name).exists()]
    assert (len(named) > 20, missing) == (True, [])


@pytest.mark.parametrize("block", BLOCKS)
def test_example(block):
    exec(compile(block, "README.md", "exec"), {})
