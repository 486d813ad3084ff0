"""The list of wrong changes fits the source. ``python -m tests.mutants`` makes them, and runs their tests."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.refusals import refused
from tests.mutants.change import Change
from tests.mutants.changes import CHANGES
from tests.mutants.running import changed, place_in_copy

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_a_change_fits_the_source_and_names_its_tests(change):
    source = (ROOT / change.file).read_text()
    assert changed(source, change) != source
    files = [word for word in change.tests.split() if word.startswith("tests/")]
    assert files
    assert all((ROOT / file).is_file() for file in files)


def test_each_change_is_told_apart():
    assert len({change.what for change in CHANGES}) == len(CHANGES)


def test_contributing_counts_the_changes_of_each_file():
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Wrong changes")[2]
    counted = {file: int(n) for file, n in re.findall(r"^\| `(.+)` \| (\d+) \|$", section, re.MULTILINE)}
    assert counted == Counter(change.file for change in CHANGES)
    assert f"makes {len(CHANGES)} changes" in section


@pytest.mark.parametrize("source", ["", "a = 1\na = 1\n"])
def test_a_change_that_fits_nowhere_or_twice_is_named(source):
    with refused("crib_env/x.py", "'a = 1'"):
        changed(source, Change("a is two", "crib_env/x.py", "a = 1", "a = 2", "tests/test_mutants.py"))


def test_the_copy_is_laid_out_as_an_installation():
    copy = Path("copy")
    assert place_in_copy(copy, "crib_env/engine.py") == copy / "crib_env" / "engine.py"
    assert place_in_copy(copy, "agents/minimax.py") == copy / "crib_env" / "agents" / "minimax.py"
