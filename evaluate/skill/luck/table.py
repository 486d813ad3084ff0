"""The table behind luck-adjusted results: expected results from every pair of scores, and the value of points there.

It is solved from deals that an agent played against itself, as :mod:`crib_env.tables.shipped` solves the win table,
for three results at once. At each pair of scores the result after the deal is also regressed on the values of the
twelve cards (:func:`crib_env.evaluate.skill.luck.usual_deal.value_cards`). Least squares gives the slopes that turn
luck in points into luck in results. A bad table would remove less noise, but it cannot cause bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from crib_env.engine import WIN
from crib_env.evaluate.skill.luck.usual_deal import PARTS
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.kernels import kernel
from crib_env.tables.deal_chances import MATCH_POINTS as ACC_POINTS
from crib_env.tables.deal_chances import ending_of
from crib_env.tables.outlook import DiscardValues

LEAST_DEALS = 100
RESULTS = ("win rate", "net points", "match points")
"""The results of a game for one player: 1 for a win, net points, net ACC match points."""
WINS, NET_POINTS, MATCH_POINTS = range(3)
VERSION = 2
_KIND = "luck table"
_COLUMNS = {
    "agent": Column("U"),
    "deals": Column("i"),
    "expected": Column("f", (WIN, WIN, len(RESULTS))),
    "slopes": Column("f", (WIN, WIN, len(RESULTS), len(PARTS))),
    "means": Column("f", (len(PARTS),)),
    "cribs": Column("f", (2, 13, 13)),
    "pegging": Column("f", (2, 1820)),
}
_DATA = Path(__file__).parent / "data" / "luck.npz"


@dataclass(frozen=True)
class LuckTable(SavedArrays, kind=_KIND, version=VERSION, columns=_COLUMNS):
    """Expected results and slopes by score, before a deal.

    Attributes:
        agent: the name of the agent that played the sampled deals.
        deals: the number of sampled deals.
        expected: (121, 121, 3) float32, the dealer's ``RESULTS`` by [dealer's score, pone's score].
        slopes: (121, 121, 3, 5) float16, the change of the dealer's results per point of each of ``PARTS``.
        means: (5,) the exact means of ``PARTS`` over all deals, in points.
        cribs, pegging: the values by which cards are discarded, see
        :class:`crib_env.tables.outlook.DiscardValues`.
    """

    agent: str
    deals: int
    expected: np.ndarray
    slopes: np.ndarray
    means: np.ndarray
    cribs: np.ndarray
    pegging: np.ndarray

    @property
    def discard_values(self) -> DiscardValues:
        """The values by which cards are discarded."""
        return DiscardValues(self.cribs, self.pegging)


@cache
def standard_luck_table() -> LuckTable:
    """The table that ships with the project; docs/benchmarks/players.md has the command that made it."""
    return LuckTable.load(_DATA)


@kernel
def final_result(dealer, pone, out):
    """The dealer's ``RESULTS`` (3,) of a finished game."""
    out[0] = 1.0 if dealer >= WIN else 0.0
    out[1] = dealer - pone
    out[2] = ACC_POINTS[ending_of(dealer, pone)]


@kernel
def result_after(dealer, pone, expected, out):
    """The dealer's expected ``RESULTS`` (3,) after a deal; then the other side deals, unless the game is over."""
    if dealer >= WIN or pone >= WIN:
        final_result(dealer, pone, out)
    else:
        out[0] = 1.0 - expected[pone, dealer, 0]
        out[1], out[2] = -expected[pone, dealer, 1], -expected[pone, dealer, 2]
