"""Speed of whole games in the engine, of the batch that learners use, and of exact values."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import GAME, OVER, TO_DRAW, begin_deal, begin_game, shuffle, step
from crib_env.evaluate.speed.measuring import Measurement
from crib_env.exact.discard_means import best_discard
from crib_env.exact.discard_statistics import crib_distribution, discard_statistics
from crib_env.kernels import bit, kernel, popcount, streams
from crib_env.players.policies import GREEDY, RANDOM, native_card
from crib_env.scoring import score_show_many, show_points

ENGINE = "random full games, engine"


@kernel
def play_games(games, policy, n):
    """Plays ``n`` games in the record ``games[0]`` with one native policy in both seats; the number of decisions."""
    g, decisions = games[0], 0
    for _ in range(n):
        begin_game(g, 0, TO_DRAW, TO_DRAW, TO_DRAW, -1)
        shuffle(g)
        begin_deal(g)
        while g["phase"] != OVER:
            step(g, native_card(g, policy))
        decisions += g["decisions"]
    return decisions


def new_game(seed: int) -> np.ndarray:
    """An array of one record, with a random stream."""
    games = np.zeros(1, GAME)
    games["episode_stream"] = streams(seed, 1)
    return games


def _native(policy: int, n: int) -> Callable[[], int]:
    record = new_game(0)

    def run() -> int:
        play_games(record, policy, n)
        return n

    return run


def _random_batch(n: int) -> Callable[[], int]:
    """Random deals through the batch with observations and masks written; the number of decisions."""
    seed = iter(range(10**9))

    def run() -> int:
        batch = GameBatch(streams(next(seed), n), episode="deal")
        decisions = 0
        while len(rows := batch.acting()):
            batch.observe(rows)
            batch.step(rows, batch.native_cards(rows, RANDOM))
            decisions += len(rows)
        return decisions

    return run


def games() -> list[Measurement]:
    """Random and greedy games, and random decisions of a batch."""
    sample = 10_000
    decisions = play_games(new_game(1), RANDOM, sample) / sample
    return [
        Measurement(ENGINE, _native(RANDOM, 2_000), also=("random decisions, engine", decisions)),
        Measurement("greedy full games, engine", _native(GREEDY, 100)),
        Measurement("random decisions of a batch, 4,096 deals, observations and masks", _random_batch(4_096)),
    ]


@kernel
def _histogram(crib):
    """How often each score falls over all 12,994,800 hands and starters."""
    counts = np.zeros(30, np.int64)
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    hand = bit(a) | bit(b) | bit(c) | bit(d)
                    for starter in range(52):
                        if not (hand >> starter) & 1:
                            counts[show_points(hand, starter, crib)] += 1
    return counts


@kernel
def _greedy_discards(sixes):
    discarded = 0
    for six in sixes:
        discarded += popcount(best_discard(six, np.int64(0), True))
    return discarded


def _enumerated_crib_means(six: np.ndarray) -> np.ndarray:
    """The fifteen crib means of one hand the plain way: every opposing pair and starter, one after the other."""
    unseen = np.setdiff1d(np.arange(52), six)
    pairs = np.array(list(combinations(unseen, 2)))
    starters = np.repeat(unseen, len(pairs))
    others = np.tile(pairs, (len(unseen), 1))
    fits = (others != starters[:, None]).all(axis=1)
    starters, others = starters[fits], others[fits]
    means = []
    for discard in combinations(six, 2):
        cribs = np.concatenate([np.tile(discard, (len(others), 1)), others], axis=1)
        means.append(score_show_many(cribs, starters, True).mean())
    return np.array(means)


def exact_values() -> list[Measurement]:
    """Discards by exact means, the statistics of all fifteen, and the histogram of scores."""
    rng = np.random.default_rng(0)
    hands = np.array([rng.choice(52, 6, replace=False) for _ in range(1_000)])
    sixes = (np.int64(1) << hands).sum(axis=1)
    return [
        Measurement("greedy discards as dealer, exact", lambda: len(sixes) if _greedy_discards(sixes) else 0),
        Measurement("discard statistics of 15, in a batch", lambda: len(discard_statistics(hands))),
        Measurement("discard statistics of 15, one call", lambda: len(discard_statistics(hands[:1]))),
        Measurement("crib distributions of 15, one call", lambda: len(crib_distribution(hands[:1]))),
        Measurement("crib means of 15 by plain enumeration", lambda: len(_enumerated_crib_means(hands[0])) // 15),
        Measurement("score histogram of 12,994,800 hands", lambda: int(_histogram(False).sum() > 0)),
    ]
