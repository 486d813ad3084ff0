"""From values to cards: from fifteen pairs to the next card discarded, from ranks to the card laid; and decisions by
phase.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crib_env import PlayerViews
from crib_env.exact.discard_statistics import PLACES

_SAME = 1e-9  # values are sums of a few exact fractions: smaller differences are rounding
# Values of a network, percent or points, are some tens in float32, whose last digits depend on the batch they are in.
# Pairs that differ only in suits may have exactly the same value, and these digits must not decide between them.
SAME_TO_A_NETWORK = 1e-4


def by_phase(
    views: PlayerViews, discard: Callable[[PlayerViews], np.ndarray], lay: Callable[[PlayerViews], np.ndarray]
) -> np.ndarray:
    """(B,) cards: from ``discard`` for the discards, from ``lay`` for the decisions of the play."""
    discarding = views.is_discard
    if discarding.all():
        return discard(views)
    if not discarding.any():
        return lay(views)
    cards = np.empty(len(views), np.int64)
    cards[discarding], cards[~discarding] = discard(views[discarding]), lay(views[~discarding])
    return cards


def lowest_of_rank(views: PlayerViews, ranks: np.ndarray) -> np.ndarray:
    """(B,) the lowest legal card of each of ``ranks`` (B,); suits do not matter in the play."""
    return 13 * views.action_mask.reshape(-1, 4, 13)[np.arange(len(ranks)), :, ranks].argmax(axis=1) + ranks


def six_dealt(views: PlayerViews) -> np.ndarray:
    """(B, 6) int64: held and discarded cards at a discard, sorted, as the exact values require."""
    return np.sort(np.concatenate([views.hand, views.discards], axis=1), axis=1)[:, 2:].astype(np.int64)


def pairs_open(views: PlayerViews, six: np.ndarray) -> np.ndarray:
    """(B, 15) bool: which pairs of the sorted six cards contain the card already discarded."""
    discarded = views.discards[:, 0]
    return (discarded[:, None] < 0) | (six[:, PLACES] == discarded[:, None, None]).any(axis=2)


def next_discard(views: PlayerViews, values: np.ndarray, ties: np.ndarray, same: float = _SAME) -> np.ndarray:
    """The next card of the best pair that holds what is already discarded.

    Args:
        views: discards to be made.
        values: (B, 15) the value of each pair, in the order of :func:`crib_env.discard_statistics`.
        ties: (B, 15) decides between pairs of equal value; if these are equal too, the first in the order of ids.
        same: values that differ by less are equal.

    Returns:
        (B,) card ids.
    """
    six = six_dealt(views)
    pairs, discarded = six[:, PLACES], views.discards[:, 0]
    values = np.where(pairs_open(views, six), values, -np.inf)
    best = values >= values.max(axis=1, keepdims=True) - same
    pair = pairs[np.arange(len(views)), np.where(best, ties, -np.inf).argmax(axis=1)]
    return np.where(pair[:, 0] == discarded, pair[:, 1], pair[:, 0])
