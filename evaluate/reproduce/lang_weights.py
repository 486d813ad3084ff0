"""What is read out of a run of Lang's learner: its weights over the board, and how it plays its own past."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from agents import make_agent
from agents.weights import WeightsAgent
from crib_env.engine import WIN
from crib_env.exact.lang_strategies import STRATEGIES
from crib_env.exact.pegging import ROLES
from evaluate.match import MatchResult
from evaluate.reproduce.claims import Effort, Measured, exact
from evaluate.reproduce.measures import RUN, Measure, match, trained
from evaluate.reproduce.trainings import summary_of
from evaluate.series import play_series
from evaluate.statistics import Z, mean_interval

TENTHS = 10  # snapshots of a run, beside the one it starts with


def snapshots(run: Path) -> list[WeightsAgent]:
    """The run's winner at its start and after each tenth of its games."""
    folder = run / "snapshots" / f"agent-{summary_of(run)['agent']}"
    return [WeightsAgent.load(path) for path in sorted(folder.glob("games-*.safetensors"))]


def _against(agent: WeightsAgent, effort: Effort) -> MatchResult:
    """A match of the final weights against others."""
    return match(RUN, lambda: agent, effort)


def against_snapshot(tenths: int) -> Measure:
    """The share of games that the final weights win of those after so many tenths of the training."""

    def measure(effort: Effort) -> Measured:
        result = _against(snapshots(trained(effort))[tenths], effort)
        return Measured(result.win_rate, result.interval, f"{effort.n:,} games", f"{result.margin:+.2f} points a game")

    return measure


def against_all_snapshots(effort: Effort) -> Measured:
    """The share of games that the final weights win of all their snapshots but the last, which they are themselves."""
    each = replace(effort, n=effort.n // TENTHS // 2 * 2)
    rates = [_against(agent, each).win_rate for agent in snapshots(trained(effort))[:TENTHS]]
    # The spread between snapshots holds that of the games.
    return Measured(float(np.mean(rates)), mean_interval(np.array(rates)), f"{effort.n:,} games, ten opponents")


def largest_spread(effort: Effort) -> Measured:
    """Points a game between the final weights and the snapshot farthest from them, over series of games."""
    return _spread(effort, np.max)


def usual_spread(effort: Effort) -> Measured:
    """Points a game between the final weights and their snapshots, the median of ten series of games."""
    return _spread(effort, np.median)


def _spread(effort: Effort, of: Callable[[np.ndarray], float]) -> Measured:
    run = trained(effort)
    final, games = make_agent(str(run)), effort.n // TENTHS
    spreads, errors = [], []
    for k, agent in enumerate(snapshots(run)[:TENTHS]):
        scores = play_series(final, agent, games, effort.seed + k).scores
        net = scores[:, 0] - scores[:, 1]
        spreads.append(float(net.mean()))
        errors.append(Z * float(net.std(ddof=1)) / math.sqrt(games))
        effort.on_progress(games)
    value, error = float(of(np.abs(spreads))), float(np.mean(errors))
    remark = f"{', '.join(f'{spread:+.2f}' for spread in spreads)}, oldest first; by chance alone up to ± {error:.2f}"
    return Measured(value, (value - error, value + error), f"{games:,} games against each of ten", remark)


def _visited(run: Path) -> np.ndarray:
    """(121, 121) bool: where the dealer's weights have learned, by own score and the opponent's."""
    first, *_, last = snapshots(run)
    return (first.weights != last.weights).any(axis=-1)[:, :, ROLES.index("dealer")]


def preferred(strategy: str, least: int, most: int) -> Measure:
    """At the dealer's places with leads from ``least`` to ``most`` that it has learned at: in how many more of them
    this strategy weighs most than the next best of the others does, as a share."""

    def measure(effort: Effort) -> Measured:
        run = trained(effort)
        weights = snapshots(run)[-1].weights[:, :, ROLES.index("dealer")]
        lead = np.arange(WIN)[:, None] - np.arange(WIN)
        places = _visited(run) & (lead >= least) & (lead <= most)
        tops = weights[places].argmax(axis=-1)
        shares = np.bincount(tops, minlength=len(STRATEGIES)) / max(len(tops), 1)
        own = STRATEGIES.index(strategy)
        second = max((k for k in range(len(STRATEGIES)) if k != own), key=lambda k: shares[k])
        remark = f"{strategy} weighs most at {shares[own]:.1%} of them, {STRATEGIES[second]} at {shares[second]:.1%}"
        return exact(shares[own] - shares[second], f"{len(tops):,} places", remark)

    return measure


def useful_over_irrelevant(effort: Effort) -> Measured:
    """Mean weight of the strategies that the thesis calls useful less that of those it calls irrelevant."""
    run = trained(effort)
    weights = snapshots(run)[-1].weights[:, :, ROLES.index("dealer")][_visited(run)].mean(axis=0)

    def mean_weight(*names: str) -> float:
        return float(np.mean([weights[STRATEGIES.index(name)] for name in names]))

    useful = mean_weight("hand_max_avg", "hand_max_min")
    irrelevant = mean_weight("hand_max_med", "pegging_max_med_gained")
    listed = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(STRATEGIES, weights))
    return exact(useful - irrelevant, "all places learned at, as dealer", listed)
