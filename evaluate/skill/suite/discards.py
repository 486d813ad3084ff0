"""Discards: 100,000 hands, each at 0–0 and at a random score, against the exact analysis.

At 0–0 a discard loses points: the best ``total`` of :func:`crib_env.analyse_discard` less its own. At random scores,
which are at most 60 apart, it loses chance to win: the best ``win_probability`` there less its own.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from crib_env.agents import Agent
from crib_env.evaluate.skill.suite.data import DISCARDS, SuiteData
from crib_env.evaluate.skill.suite.positions import before_discards, chosen_cards
from crib_env.evaluate.skill.suite.task import Measured, Work
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES, TOTALS, fill_totals
from crib_env.kernels import bit, kernel
from crib_env.tables.analysis import discard_chances
from crib_env.tables.discard_values import discard_points
from crib_env.tables.outlook import outlook

NAME = "discards"
_SAME = 1e-9  # values are sums of a few exact fractions: what differs by less is rounding
_CHUNK = 1_000


def steps(share: float) -> int:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    return 2 * round(share * DISCARDS)


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    data, n = work.data, work.part_of(DISCARDS)
    sixes, deals = data.sixes[:n].astype(np.int64), data.deals[:n] == 1

    def chosen(scores: np.ndarray) -> np.ndarray:
        games = before_discards(sixes, deals, scores)
        pairs = np.sort(chosen_cards(agent, games, work.threads, work.on_progress, n_cards=2), axis=1)
        return (sixes[:, PLACES] == pairs[:, None]).all(axis=2).argmax(axis=1)

    points, at_zero = discard_points(sixes, deals), chosen(np.zeros((n, 2), np.int64))
    points_lost = points.max(axis=1) - points[np.arange(n), at_zero]
    at_score = chosen(data.scores[:n])
    chance_lost = chances_lost(data, at_score, work.threads)
    return {
        "points lost a discard at 0–0": Measured.of(points_lost),
        "best discards at 0–0, %": Measured.of(100.0 * (points_lost < _SAME)),
        "chance to win lost a discard, %": Measured.of(100 * chance_lost),
        "best discards at random scores, %": Measured.of(100.0 * (chance_lost < _SAME)),
    }


@kernel
def _lose(sixes, deals, scores, chosen, best, outlook, out):
    totals, wins = np.zeros((1, N_DISCARDS), TOTALS), np.empty((1, N_DISCARDS))
    for n in range(len(out)):
        out[n] = 0.0
        if chosen[n] == best[n]:
            continue
        fill_totals(sixes[n : n + 1], totals)
        score = scores[n : n + 1].astype(np.int64)
        for k in (best[n], chosen[n]):
            pair = bit(sixes[n, PLACES[k, 0]]) | bit(sixes[n, PLACES[k, 1]])
            discard_chances(sixes[n], pair, deals[n], score, totals[0], outlook, wins)
            out[n] = wins[0, k] - out[n]
        out[n] = max(-out[n], 0.0)  # pairs that differ in suits alone may be worth the same


def chances_lost(data: SuiteData, chosen: np.ndarray, threads: int) -> np.ndarray:
    """The chance to win that discards of the first N hands lose at the scores of the data, (N,).

    Args:
        data: of the suite.
        chosen: (N,) of the fifteen.
        threads: how many work side by side.
    """
    n = len(chosen)
    sixes, deals, best = data.sixes[:n].astype(np.int64), data.deals[:n] == 1, data.best[:n].astype(np.int64)
    scores, lost, known = data.scores[:n], np.empty(n), outlook()

    def fill(start: int) -> None:
        rows = slice(start, start + _CHUNK)
        _lose(sixes[rows], deals[rows], scores[rows], chosen[rows], best[rows], known, lost[rows])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(0, n, _CHUNK)))
    return lost
