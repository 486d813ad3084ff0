"""docs/train/other-loops.md: the programs for what the workbench has; ``make loops`` runs those of ``tests/loops``."""

import pytest

from tests.helpers.other_loops import blocks_of, run_block

OF_THE_WORKBENCH = ("Stable-Baselines3",)


@pytest.mark.parametrize("block", [block for library in OF_THE_WORKBENCH for block in blocks_of(library)])
def test_programs(block):
    run_block(block)
