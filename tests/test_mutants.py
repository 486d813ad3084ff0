"""The list of wrong changes fits the source. ``python -m tests.mutants`` makes them, and runs their tests."""

from pathlib import Path

import pytest

from tests.mutants.changes import CHANGES
from tests.mutants.running import changed

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_a_change_fits_the_source(change):
    source = (ROOT / change.file).read_text()
    assert changed(source, change) != source
