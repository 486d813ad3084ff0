"""Lang (2018), "Policy Improvement in Cribbage".

The thesis gives numbers in its Tables 2, 3 and 4 and in its text; its figures are pictures of weights and of point
spreads. Rounds 1 and 2 are trained with s = 10 and s = 2, about which the text says only that one is a fifth of the
other, and that the experiments of section 4.2 begin with s = 2.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from crib_env import crib_distribution, discard_statistics, score_show
from crib_env.agents import make_agent
from crib_env.agents.strategy_weights import StrategyWeightsAgent, starting_weights
from crib_env.batch import SOURCES
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.matches.match import MatchResult, play_match
from crib_env.evaluate.matches.series import play_series
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.evaluate.papers.claims import Effort, Measure, Measured, exact, mean_of
from crib_env.evaluate.papers.measures import RUN, match, player, trained
from crib_env.evaluate.papers.trainings import summary_of
from crib_env.evaluate.runs.format import snapshots_of
from crib_env.evaluate.statistics import match_points
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, cards_of, class_sizes
from crib_env.exact.discard_means import STARTERS
from crib_env.exact.discard_statistics import N_DISCARDS, TOTALS, fill_totals
from crib_env.hands import FOURS
from crib_env.players.win_rate import Z
from crib_env.tables.lang_strategies import STRATEGIES

TENTHS = 10  # snapshots of a run, besides the initial one
_SHORT = 9  # games of a match
_SHORT_MATCHES = 20  # against each snapshot


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


_SIX = "5H 5C JD QS 2H 3D"


def combinations(effort: Effort) -> Measured:
    """Deals in all classes, times 15 discards, times starters and completions of the crib."""
    completions = crib_distribution(_SIX)[0, 0].sum()
    return exact(class_sizes().sum() * N_DISCARDS * (STARTERS + completions))


def crib_completions(effort: Effort) -> Measured:
    """Ways to fill a crib and cut a starter."""
    return exact(crib_distribution(_SIX)[0, 0].sum())


def table_seconds(effort: Effort) -> Measured:
    """Processor seconds of the exact statistics of all classes of deals, scaled from some of them."""
    rows = np.random.default_rng(effort.seed).choice(N_CLASSES, effort.n, replace=False)
    hands, totals = cards_of(rows), np.zeros((effort.n, N_DISCARDS), TOTALS)
    fill_totals(hands[:1], totals[:1])  # compiles
    started = time.process_time()
    fill_totals(hands, totals)
    seconds = (time.process_time() - started) * N_CLASSES / effort.n
    return exact(seconds, f"{effort.n:,} of {N_CLASSES:,} classes of deals, scaled")


def table_gigabytes(effort: Effort) -> Measured:
    """The size of the file of these statistics."""
    return exact(N_CLASSES * N_DISCARDS * TOTALS.itemsize / 1e9, f"exact, {N_DEALS:,} deals in classes of suits")


def decision_milliseconds(effort: Effort) -> Measured:
    """Processor time of the statistics of one hand, without a database."""
    discard_statistics(_SIX)  # compiles
    started = time.process_time()
    for _ in range(effort.n):
        discard_statistics(_SIX)
    return exact(1e3 * (time.process_time() - started) / effort.n, f"{effort.n:,} calls, without a database")


def games_a_second(effort: Effort) -> Measured:
    """Games a processor second between two of Lang's players."""
    one, other = (StrategyWeightsAgent(starting_weights("random", seed)) for seed in (1, 2))
    play_match(one, other, 2, effort.seed)  # compiles
    started = time.process_time()
    play_match(one, other, effort.n, effort.seed, on_progress=effort.on_progress)
    return exact(effort.n / (time.process_time() - started), f"{effort.n:,} games side by side")


def classes_unseen(effort: Effort) -> Measured:
    """Fours of ranks that 100,000 random hands are expected to leave out."""
    counts = np.stack([np.bincount(ranks, minlength=13) for ranks in FOURS])
    ways = np.array([math.comb(4, k) for k in range(5)])[counts].prod(axis=1)
    unseen = (1 - ways / ways.sum()) ** 100_000
    remark = f"and {(1 - 1 / ways.sum()) ** 100_000:.0%} of the {ways.sum():,} fours of cards, suits told apart"
    return exact(unseen.sum(), f"expected, of {len(ways):,} fours of ranks", remark)


def least_exploration(effort: Effort) -> Measured:
    """The exploration rate 0.3 - Var(w) where one strategy has all the weight."""
    one_alone = np.eye(len(STRATEGIES))[0]
    remark = f"with n in the denominator it would be {0.3 - np.var(one_alone):.1%}"
    return exact(0.3 - np.var(one_alone, ddof=1), "exact", remark)


def table_2_points(*scores: Sequence[int]) -> Measure:
    """Match points of the first player less those of the second, of scores of games."""

    def measure(effort: Effort) -> Measured:
        first, second = match_points(np.array(scores)).sum(axis=0)
        return exact(first - second, f"{len(scores)} games", f"{first} to {second}")

    return measure


def table_2_spread(*scores: Sequence[int]) -> Measure:
    """Points of the first player less those of the second, of scores of games."""
    return lambda effort: exact(sum(one - other for one, other in scores), f"{len(scores)} games")


def table_3_misprints(*rows: Sequence[int]) -> Measure:
    """Of rows of 100 games, each with the games that the second player won and both players' match points: those whose
    points are wrong, since a win is worth two of them, or three."""

    def measure(effort: Effort) -> Measured:
        wins, scores = np.array(rows)[:, :1], np.array(rows)[:, 1:]
        won = np.hstack([100 - wins, wins])
        wrong = (2 * won > scores) | (3 * won < scores)
        skunks = (scores - 2 * won).sum()
        return exact(wrong.any(axis=1).sum(), f"{len(rows)} rows", f"{skunks} of the 1,000 games were skunks")

    return measure


def table_4_misprints(positions: int, rows: Mapping[str, Sequence[float]]) -> Measure:
    """Of rows with three numbers of positions, and the last in percent: those whose numbers or percent cannot be."""

    def measure(effort: Effort) -> Measured:
        wrong = [percent for *_, third, percent in rows.values() if abs(100 * third / positions - percent) > 0.0051]
        falls = [name for name, (first, second, third, _) in rows.items() if not first <= second <= third]
        remark = f"Top 2 below Top 1: {', '.join(falls) or 'none'}"
        return exact(len(wrong) + len(falls), f"{len(rows)} rows", remark)

    return measure


def dealers_advantage(effort: Effort) -> Measured:
    """Points that the dealer's hand and crib score more than pone's hand, between two ``careful`` players."""
    careful = player("careful", effort)
    tally = play_deals(careful, careful, effort.n, effort.seed, on_progress=effort.on_progress)
    by_role = tally[::2].sum(axis=1)  # both games of a pair are one
    net = by_role[:, DEALER] - by_role[:, PONE]
    in_the_show = net[:, SOURCES.index("hand")] + net[:, SOURCES.index("crib")]
    return mean_of(in_the_show, f"{effort.n:,} deals", f"{net.sum(axis=1).mean():.2f} with heels and the play")


def score_of_show(hand: str, starter: str) -> Measure:
    """The points of a hand with a starter."""
    return lambda effort: exact(score_show(hand, starter))
