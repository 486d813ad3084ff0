"""A short piece of the long comparison of the engine with plain rules."""

import pytest

from tests.differential import __main__ as command
from tests.differential.comparison import PLAYS


@pytest.mark.slow
def test_no_difference_over_a_million_cards():
    compared, found = command.compare_chunk(seed=1, chunk=0, n_plays=1_000_000)
    assert found is None
    assert compared.totals[PLAYS] >= 1_000_000
    assert compared.events.all()  # every kind of point fell
    assert compared.ends.all()  # and won games
