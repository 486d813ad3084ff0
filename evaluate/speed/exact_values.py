"""Speed of exact discard values, and of one pass over every hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from crib_env.evaluate.speed.measuring import Measurement
from crib_env.exact.discard_means import best_discard
from crib_env.exact.discard_statistics import crib_distribution, discard_statistics
from crib_env.kernels import bit, kernel, popcount
from crib_env.scoring import score_show_many, show_points


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


def measurements() -> list[Measurement]:
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
