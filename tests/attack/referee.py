"""The engine against plain rules that were written apart from it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.attack.attempts import Attempts, Sizes
from tests.differential import __main__ as differential
from tests.differential.comparison import PLAYS


def attack(sizes: Sizes, seed: int) -> Iterator[Attempts]:
    """Random games on both sides, card by card."""
    found = Attempts("cards laid that the referee judged otherwise")
    chunk = 0
    while found.tried < sizes.plays and not found.faults:
        n = min(differential.CHUNK, sizes.plays - found.tried)
        compared, difference = differential.compare_chunk(seed, chunk, n)
        found.tried += int(compared.totals[PLAYS])
        found.faults += [] if difference is None else [difference]
        chunk += 1
    yield found
