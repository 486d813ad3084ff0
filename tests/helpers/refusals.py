"""Errors that tests expect: their type, and what they name."""

from contextlib import contextmanager

import pytest


@contextmanager
def refused(*names, error=ValueError):
    """Sees that the block raises this error, and that it names each of these: the offender, or what is allowed."""
    with pytest.raises(error) as caught:
        yield
    said = str(caught.value)
    assert names, "an error names somebody"
    assert [str(name) for name in names if str(name) not in said] == [], said
