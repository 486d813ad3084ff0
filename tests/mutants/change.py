"""What a change is."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """A piece of a source file that is replaced."""

    what: str
    """What is wrong with it, in words."""
    file: str
    old: str
    """Stands in the file exactly once."""
    new: str
    tests: str
    """Arguments of pytest."""
    compiled: bool = False
    """Whether kernels are compiled; else they run as plain Python, which saves most of the time."""
