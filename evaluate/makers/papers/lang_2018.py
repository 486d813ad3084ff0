"""Lang (2018), "Policy Improvement in Cribbage".

The thesis gives numbers in its Tables 2, 3 and 4 and in its text; its figures are pictures of weights and of point
spreads. Rounds 1 and 2 are trained with s = 10 and s = 2, about which the text says only that one is a fifth of the
other, and that the experiments of section 4.2 begin with s = 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from crib_env.agents.strategy_weights import StrategyWeightsAgent
from crib_env.batch import SOURCES
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.makers.papers.measures import (
    RUN,
    Effort,
    Measure,
    Measured,
    exact,
    match,
    mean_of,
    player,
    result_of,
    summary_of,
    trained,
)
from crib_env.evaluate.matches.match import MatchResult
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.evaluate.runs.format import snapshots_of
from crib_env.tables.lang_strategies import STRATEGIES

TENTHS = 10  # snapshots of a run, besides the initial one


def snapshots(run: Path) -> list[StrategyWeightsAgent]:
    """The run's winner at its start and after each tenth of its games."""
    return [StrategyWeightsAgent.load(path) for path in snapshots_of(run, summary_of(run)["agent"])]


def against_snapshot(what: str, tenths: int) -> Measure:
    """The result of the final weights against those after a number of tenths of the training."""

    def measure(effort: Effort) -> Measured:
        earlier = snapshots(trained(effort))[tenths]
        return result_of(match(RUN, lambda: earlier, effort), what)

    return measure


def against_all_snapshots(what: str) -> Measure:
    """The same against all their snapshots but the last, which equals them."""

    def measure(effort: Effort) -> Measured:
        each = replace(effort, n=effort.n // TENTHS // 2 * 2)

        def against_one(earlier: StrategyWeightsAgent) -> MatchResult:
            return match(RUN, lambda: earlier, each)

        values = [result_of(against_one(agent), what).value for agent in snapshots(trained(effort))[:TENTHS]]
        # The spread between snapshots includes that of the games.
        return mean_of(np.array(values), f"{effort.n:,}, ten opponents")

    return measure


def _visited(run: Path) -> np.ndarray:
    """(121, 121) bool: where the dealer's weights have learned, by own score and the opponent's."""
    first, *_, last = snapshots(run)
    return (first.weights != last.weights).any(axis=-1)[:, :, DEALER]


def preferred(strategy: str, least: int, most: int) -> Measure:
    """Among the dealer's places with leads from ``least`` to ``most`` where it has learned: the share at which this
    strategy has the highest weight, minus the largest such share of another strategy."""

    def measure(effort: Effort) -> Measured:
        run = trained(effort)
        weights = snapshots(run)[-1].weights[:, :, DEALER]
        lead = np.arange(WIN)[:, None] - np.arange(WIN)
        places = _visited(run) & (lead >= least) & (lead <= most)
        tops = weights[places].argmax(axis=-1)
        shares = np.bincount(tops, minlength=len(STRATEGIES)) / max(len(tops), 1)
        own = STRATEGIES.index(strategy)
        return exact(shares[own] - np.delete(shares, own).max(), f"{len(tops):,} places")

    return measure


def table_4_misprints(positions: int, rows: Mapping[str, Sequence[float]]) -> Measure:
    """Of rows with three numbers of positions, and the last in percent: those whose numbers or percent cannot be."""

    def measure(effort: Effort) -> Measured:
        wrong = [percent for *_, third, percent in rows.values() if abs(100 * third / positions - percent) > 0.0051]
        falls = [name for name, (first, second, third, _) in rows.items() if not first <= second <= third]
        return exact(len(wrong) + len(falls), f"{len(rows)} rows")

    return measure


def dealers_advantage(effort: Effort) -> Measured:
    """Points that the dealer's hand and crib score more than pone's hand, between two ``careful`` players."""
    careful = player("careful", effort)
    tally = play_deals(careful, careful, effort.n, effort.seed)
    by_role = tally[::2].sum(axis=1)  # both games of a pair are one
    net = by_role[:, DEALER] - by_role[:, PONE]
    in_the_show = net[:, SOURCES.index("hand")] + net[:, SOURCES.index("crib")]
    return mean_of(in_the_show, f"{effort.n:,} deals")
