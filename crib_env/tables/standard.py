"""The tables that ship with this package: cribs, pegging records, the win table, leads, whole deals.

Each is loaded once. They are files of ``crib_env/tables/data``; CONTRIBUTING.md has the commands that made them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from crib_env.tables.crib_tables import CribTables
from crib_env.tables.deal_values import DealValues
from crib_env.tables.leads import Leads
from crib_env.tables.pegging import PeggingRecords
from crib_env.tables.win_table import WinTable

_DATA = Path(__file__).parent / "data"


@cache
def standard_cribs() -> CribTables:
    """Cribs, kept hands and shown hands when both players discard by hand and crib."""
    return CribTables.load(_DATA / "cribs.npz")


@cache
def standard_pegging() -> PeggingRecords:
    """Points that every four kept cards gain and concede in the play between two ``careful`` players."""
    return PeggingRecords.load(_DATA / "pegging.npz")


@cache
def standard_win_table() -> WinTable:
    """How games end from every pair of scores between two ``best`` players, and how their late deals go."""
    return WinTable.load(_DATA / "win_table.npz")


@cache
def standard_leads() -> Leads:
    """The first card of each player in equilibrium of the pegging game."""
    return Leads.load(_DATA / "leads.npz")


@cache
def standard_deals() -> DealValues:
    """What discards are worth in whole deals against a solution of them."""
    return DealValues.load(_DATA / "deals.npz")
