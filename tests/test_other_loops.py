"""docs/train/other-loops.md: the programs for what the workbench has; ``make loops`` runs those of ``tests/loops``."""

import re

import pytest

from tests.helpers.learner_runs import ROOT
from tests.helpers.other_loops import LIBRARIES, ON_THE_PAGE, PAGE, blocks_of, run_block

OF_THE_WORKBENCH = ("Stable-Baselines3",)


@pytest.mark.parametrize("block", [block for library in OF_THE_WORKBENCH for block in blocks_of(library)])
def test_programs(block):
    run_block(block)


def test_make_loops_runs_the_program_of_every_other_library():
    (environments,) = re.findall(r"^LOOPS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    extras = sorted(re.split("[ ,]", environments))
    assert extras == sorted(path.stem.removeprefix("test_") for path in (ROOT / "tests" / "loops").glob("test_*.py"))
    assert extras == sorted(library.lower() for library in LIBRARIES.difference(OF_THE_WORKBENCH))
    assert sorted(["workbench", *extras]) == sorted(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert PAGE.count("```python") == ON_THE_PAGE
