"""The list of wrong changes fits the source. ``python -m tests.mutants`` makes them, and runs their tests."""

from tests.mutants.__main__ import CHANGES, ROOT


def test_all_changes_fit_the_source():
    assert len(CHANGES) > 100
    for change in CHANGES:
        source = (ROOT / change.file).read_text()
        assert change.made_in(source) != source
