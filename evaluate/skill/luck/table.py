"""The table behind luck-adjusted results: expected results from every pair of scores, and the value of points there.

It is solved from deals that an agent played against itself, as :mod:`crib_env.tables.win_table` solves the win table,
for three results at once. At each pair of scores the result after the deal is also regressed on the values of the
twelve cards (:func:`crib_env.evaluate.skill.luck.usual_deal.value_cards`). Least squares gives the slopes that turn
luck in points into luck in results. A bad table would remove less noise, but it cannot cause bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from crib_env.agents import Agent
from crib_env.batch import GameBatch
from crib_env.engine import WIN
from crib_env.evaluate.skill.luck.usual_deal import PARTS, new_scratch, value_cards
from crib_env.evaluate.tables.win_table.deals import points_of
from crib_env.evaluate.tables.win_table.solve import score_after
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.kernels import kernel, mask_of, streams
from crib_env.tables.deal_chances import MATCH_POINTS as ACC_POINTS
from crib_env.tables.deal_chances import ending_of
from crib_env.tables.discard_values import DiscardValues

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
        :class:`crib_env.tables.discard_values.DiscardValues`.
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


@kernel
def _solve(points, weights, expected, slopes):
    """Fills ``expected`` and ``slopes`` from high scores to low.

    ``weights`` (5, n) turn n results, minus their mean, into slopes.
    """
    n = len(points)
    made, after = np.zeros((n, 2), np.int64), np.empty((n, 3))
    for k in range(n):
        for peg in points[k]:
            made[k] += peg
    for total in range(2 * WIN - 2, -1, -1):
        for dealer in range(max(0, total - WIN + 1), min(WIN - 1, total) + 1):
            pone = total - dealer
            for k in range(n):
                d, p = dealer + made[k, 0], pone + made[k, 1]
                if d >= WIN or p >= WIN:
                    d, p = score_after(points[k], np.int64(dealer), np.int64(pone))
                    d, p = min(d, WIN), min(p, WIN)
                result_after(d, p, expected, after[k])
            for result in range(3):
                mean = 0.0
                for k in range(n):
                    mean += after[k, result]
                mean /= n
                expected[dealer, pone, result] = mean
                for part in range(len(weights)):
                    slope = 0.0
                    for k in range(n):
                        slope += weights[part, k] * (after[k, result] - mean)
                    slopes[dealer, pone, result, part] = slope


@kernel
def _value_all(games, values, scratch, out):
    for n in range(len(games)):
        dealer = np.int64(games[n]["dealer"])
        cards, pone = games[n]["cards"], 1 - dealer
        pones, dealers = mask_of(cards[6 * pone : 6 * pone + 6]), mask_of(cards[6 * dealer : 6 * dealer + 6])
        value_cards(pones, dealers, values, scratch, out[n])


def solve_luck_table(agent: Agent, deals: int, seed: int, means: np.ndarray, values: DiscardValues) -> LuckTable:
    """A luck table from a number of deals that an agent plays against itself.

    Args:
        means: (5,) from :func:`crib_env.evaluate.skill.luck.exact_means.exact_means`.

    Raises:
        ValueError: there are fewer than ``LEAST_DEALS``, too few for slopes.
    """
    if deals < LEAST_DEALS:
        raise ValueError(f"deals={deals} is not allowed: give at least {LEAST_DEALS}")
    points = points_of(agent, streams(seed, deals))
    worth = np.zeros((deals, len(PARTS)))
    _value_all(GameBatch(streams(seed, deals), episode="deal").games, values, new_scratch(), worth)
    worth -= worth.mean(axis=0)
    weights = np.ascontiguousarray(np.linalg.solve(worth.T @ worth, worth.T))
    expected, slopes = np.zeros((WIN, WIN, len(RESULTS))), np.zeros((WIN, WIN, len(RESULTS), len(PARTS)))
    _solve(points, weights, expected, slopes)
    return LuckTable(
        agent.name,
        deals,
        expected.astype(np.float32),
        slopes.astype(np.float16),
        np.asarray(means, np.float64),
        *values,
    )
