"""Measurements of a run of Lang's learner: its weights by score, and its games against its earlier weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from crib_env.agents import make_agent
from crib_env.agents.strategy_weights import StrategyWeightsAgent
from crib_env.engine import DEALER, WIN
from crib_env.evaluate.matches.match import MatchResult
from crib_env.evaluate.matches.series import play_series
from crib_env.evaluate.papers.claims import Effort, Measured, Training, exact, mean_of
from crib_env.evaluate.papers.measures import RUN, Measure, match, trained
from crib_env.evaluate.papers.trainings import summary_of
from crib_env.evaluate.runs.format import snapshots_of
from crib_env.evaluate.statistics import Z
from crib_env.tables.lang_strategies import STRATEGIES

TENTHS = 10  # snapshots of a run, besides the initial one
RANDOM_WEIGHTS = "strategy-weights:random,seed=77"
SECONDS_A_GAME = 6e-4  # between two of the players
_SHORT = 9  # games of a match
_SHORT_MATCHES = 20  # against each snapshot
_TRAINING = 7e-5  # seconds a game
_PRESET = ("--preset", "paper")
ROUND_1 = Training(
    "round-1",
    "strategy-weights",
    (*_PRESET, "--exploration-rate", "variance", "--explore-by", "values", "--scaling", "10"),
    (100_000, 1_000_000),
    _TRAINING,
)
LOSERS = Training("round-2-losers", "strategy-weights", (*_PRESET, "--explore-by", "values"), (0, 1_000_000), _TRAINING)
STATIC = Training(
    "round-2-static",
    "strategy-weights",
    (*_PRESET, "--explore-by", "values", "--opponent", "static"),
    (0, 350_000),
    _TRAINING,
)


def experiment(name: str, *flags: str) -> Training:
    """A training of section 4.2: half a million games with these settings."""
    return Training(name, "strategy-weights", (*_PRESET, *flags), (0, 500_000), _TRAINING)


def snapshots(run: Path) -> list[StrategyWeightsAgent]:
    """The run's winner at its start and after each tenth of its games."""
    return [StrategyWeightsAgent.load(path) for path in snapshots_of(run, summary_of(run)["agent"])]


def _against(agent: StrategyWeightsAgent, effort: Effort) -> MatchResult:
    """A match of the final weights against other weights."""
    return match(RUN, lambda: agent, effort)


def wins_against_snapshot(tenths: int) -> Measure:
    """The share of games that the final weights win against those after a number of tenths of the training."""

    def measure(effort: Effort) -> Measured:
        result = _against(snapshots(trained(effort))[tenths], effort)
        return Measured(result.win_rate, result.interval, f"{effort.n:,} games", f"{result.margin:+.2f} points a game")

    return measure


def points_against_snapshot(tenths: int) -> Measure:
    """Net points a game of the final weights against those after a number of tenths of the training."""

    def measure(effort: Effort) -> Measured:
        result = _against(snapshots(trained(effort))[tenths], effort)
        return Measured(result.margin, result.margin_interval, f"{effort.n:,} games")

    return measure


def wins_against_all_snapshots(effort: Effort) -> Measured:
    """The share of games that the final weights win against all their snapshots but the last, which equals them."""
    return _against_all(effort, lambda result: result.win_rate)


def points_against_all_snapshots(effort: Effort) -> Measured:
    """Net points a game of the final weights against the same snapshots."""
    return _against_all(effort, lambda result: result.margin)


def _against_all(effort: Effort, of: Callable[[MatchResult], float]) -> Measured:
    each = replace(effort, n=effort.n // TENTHS // 2 * 2)
    values = np.array([of(_against(agent, each)) for agent in snapshots(trained(effort))[:TENTHS]])
    # The spread between snapshots includes that of the games.
    return mean_of(values, f"{effort.n:,} games, ten opponents")


def largest_of_short_matches(effort: Effort) -> Measured:
    """Points a game in the most one-sided of 200 matches of nine games, twenty against each of ten snapshots; the mean
    of several times 200."""
    run = trained(effort)
    final, times = make_agent(str(run)), effort.n // (TENTHS * _SHORT_MATCHES * _SHORT)
    nets = []
    for k, agent in enumerate(snapshots(run)[:TENTHS]):
        scores = play_series(final, agent, times * _SHORT_MATCHES * _SHORT, effort.seed + k).scores
        nets.append((scores[:, 0] - scores[:, 1]).reshape(times, _SHORT_MATCHES, _SHORT))
        effort.on_progress(nets[-1].size)
    games = np.stack(nets)  # snapshot, time, match, game
    matches = np.abs(games.mean(axis=3))
    remark = f"on average {matches.mean():.1f} in a match, and {np.abs(games).mean():.1f} in a single game"
    return mean_of(matches.max(axis=(0, 2)), f"{times:,} times 200 matches", remark)


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
        second = max((k for k in range(len(STRATEGIES)) if k != own), key=lambda k: shares[k])
        remark = f"{strategy} weighs most at {shares[own]:.1%} of them, {STRATEGIES[second]} at {shares[second]:.1%}"
        return exact(shares[own] - shares[second], f"{len(tops):,} places", remark)

    return measure


def useful_over_irrelevant(effort: Effort) -> Measured:
    """Mean weight of the strategies that the thesis calls useful minus that of those it calls irrelevant."""
    run = trained(effort)
    weights = snapshots(run)[-1].weights[:, :, DEALER][_visited(run)].mean(axis=0)

    def mean_weight(*names: str) -> float:
        return float(np.mean([weights[STRATEGIES.index(name)] for name in names]))

    useful = mean_weight("hand_max_avg", "hand_max_min")
    irrelevant = mean_weight("hand_max_med", "pegging_max_med_gained")
    listed = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(STRATEGIES, weights))
    return exact(useful - irrelevant, "all places learned at, as dealer", listed)
