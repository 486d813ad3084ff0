"""Counts in Lang (2018), and the time and space that its program took; none of them needs a training."""

from __future__ import annotations

import math
import time

import numpy as np

from crib_env import crib_distribution, discard_statistics, score_show
from crib_env.agents.strategy_weights import StrategyWeightsAgent, starting_weights
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.papers.claims import Claim, Effort, Measured, above, check, exact, number, shown
from crib_env.evaluate.papers.lang_2018.strategy_weights import SECONDS_A_GAME
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, cards_of, class_sizes
from crib_env.exact.discard_means import STARTERS
from crib_env.exact.discard_statistics import N_DISCARDS, TOTALS, fill_totals
from crib_env.hands import CLASS_RANKS
from crib_env.tables.lang_strategies import STRATEGIES

_SIX = "5H 5C JD QS 2H 3D"


def _combinations(effort: Effort) -> Measured:
    completions = crib_distribution(_SIX)[0, 0].sum()
    return exact(class_sizes().sum() * N_DISCARDS * (STARTERS + completions))


def _crib_completions(effort: Effort) -> Measured:
    return exact(crib_distribution(_SIX)[0, 0].sum())


def _table_seconds(effort: Effort) -> Measured:
    rows = np.random.default_rng(effort.seed).choice(N_CLASSES, effort.n, replace=False)
    hands, totals = cards_of(rows), np.zeros((effort.n, N_DISCARDS), TOTALS)
    fill_totals(hands[:1], totals[:1])  # compiles
    started = time.process_time()
    fill_totals(hands, totals)
    seconds = (time.process_time() - started) * N_CLASSES / effort.n
    return exact(seconds, f"{effort.n:,} of {N_CLASSES:,} classes of deals, scaled")


def _table_gigabytes(effort: Effort) -> Measured:
    return exact(N_CLASSES * N_DISCARDS * TOTALS.itemsize / 1e9, f"exact, {N_DEALS:,} deals in classes of suits")


def _decision_milliseconds(effort: Effort) -> Measured:
    discard_statistics(_SIX)  # compiles
    started = time.process_time()
    for _ in range(effort.n):
        discard_statistics(_SIX)
    return exact(1e3 * (time.process_time() - started) / effort.n, f"{effort.n:,} calls, without a database")


def _games_a_second(effort: Effort) -> Measured:
    one, other = (StrategyWeightsAgent(starting_weights("random", seed)) for seed in (1, 2))
    play_match(one, other, 2, effort.seed)  # compiles
    started = time.process_time()
    play_match(one, other, effort.n, effort.seed, on_progress=effort.on_progress)
    return exact(effort.n / (time.process_time() - started), f"{effort.n:,} games side by side")


def _classes_unseen(effort: Effort) -> Measured:
    counts = np.stack([np.bincount(ranks, minlength=13) for ranks in CLASS_RANKS])
    ways = np.array([math.comb(4, k) for k in range(5)])[counts].prod(axis=1)
    unseen = (1 - ways / ways.sum()) ** 100_000
    remark = f"and {(1 - 1 / ways.sum()) ** 100_000:.0%} of the {ways.sum():,} fours of cards, suits told apart"
    return exact(unseen.sum(), f"expected, of {len(ways):,} fours of ranks", remark)


def _least_exploration(effort: Effort) -> Measured:
    one_alone = np.eye(len(STRATEGIES))[0]
    remark = f"with n in the denominator it would be {0.3 - np.var(one_alone):.1%}"
    return exact(0.3 - np.var(one_alone, ddof=1), "exact", remark)


COUNTS = (
    check(
        "footnote-4-hand",
        "3.1, footnote 4",
        "5C 5H 5S JD with 5D cut",
        number("29", 29),
        "`score_show`",
        lambda effort: exact(score_show("5C 5H 5S JD", "5D")),
        "{:.0f}",
    ),
    check(
        "footnote-4-cut",
        "3.1, footnote 4",
        "5C 5H 5S 5D with JD cut",
        number("28", 28),
        "`score_show`",
        lambda effort: exact(score_show("5C 5H 5S 5D", "JD")),
        "{:.0f}",
    ),
    check(
        "crib-completions",
        "3.1",
        "ways to fill a crib and cut a starter",
        number("45540", 45_540),
        "the sum of `crib_distribution`",
        _crib_completions,
        "{:,.0f}",
    ),
    check(
        "combinations",
        "3.1",
        "combinations to be evaluated for every discard of every deal",
        number("1.3921 × 10¹³", 1.3921e13, 1e9),
        "deals in all classes, times 15 discards, times starters and completions of the crib",
        _combinations,
        "{:,.0f}",
    ),
    Claim(
        "table-time",
        "3.1",
        "time to evaluate all combinations",
        shown("5 and a half days on a server, in C"),
        "exact statistics of classes of deals on one core, scaled to all of them",
        _table_seconds,
        "{:,.1f} s",
        (20_000, 200_000),
        1e-5,
    ),
    Claim(
        "table-size",
        "5.1",
        "size of the database",
        shown("around 20 GB"),
        "the size of the file that `make-table discards` writes",
        _table_gigabytes,
        "{:.3f} GB",
    ),
    Claim(
        "decision-time",
        "5.1",
        "time of one decision",
        shown("about 10 s; 0.05 s with the database"),
        "`discard_statistics` of one hand",
        _decision_milliseconds,
        "{:.3f} ms",
        (1_000, 10_000),
        2e-5,
    ),
    Claim(
        "games-a-second",
        "5.1",
        "games of two learners",
        shown("2 a second"),
        "a match between two of Lang's players with random weights, on one thread",
        _games_a_second,
        "{:,.0f} a second",
        (1_000, 10_000),
        SECONDS_A_GAME,
    ),
    check(
        "pegging-records",
        "5.1, Performance Evaluation",
        "roughly 100,000 random hands leave pegging records without some combinations",
        above("some are missing", 0.5),
        "chances of the fours of ranks, for 100,000 hands in a role",
        _classes_unseen,
        "{:.1f} fours of ranks",
    ),
    check(
        "least-exploration",
        "4.1, Applications for Round 2",
        "the exploration rate 0.3 - Var(w) where one strategy has all the weight",
        number("18 %", 0.18, 0.01),
        "the variance of one 1 and seven 0, with n - 1 in the denominator",
        _least_exploration,
        "{:.1%}",
    ),
)
