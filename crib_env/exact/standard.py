"""The exact values that ship with this package: cribs, pegging records and a board, each read once and kept.

They are files of ``crib_env/exact/data``; CONTRIBUTING.md has the commands that made them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from crib_env.exact.board import Board
from crib_env.exact.crib_tables import CribTables
from crib_env.exact.pegging import PeggingRecords

_DATA = Path(__file__).parent / "data"


@cache
def standard_cribs() -> CribTables:
    """Cribs, hands kept and hands shown when both players discard by hand and crib."""
    return CribTables.load(_DATA / "cribs.npz")


@cache
def standard_pegging() -> PeggingRecords:
    """What every four kept cards gain and give in the play between two ``careful`` players."""
    return PeggingRecords.load(_DATA / "pegging.npz")


@cache
def standard_board() -> Board:
    """How games end from every pair of scores between two ``expert`` players."""
    return Board.load(_DATA / "board.npz")
