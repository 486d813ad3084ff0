"""From values to cards: fifteen pairs to the card thrown next, ranks to the card laid; and decisions by phase."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crib_env import PlayerViews
from crib_env.exact.discard_statistics import PLACES

_SAME = 1e-9  # values are sums of a few exact fractions: what differs by less is rounding


def is_discard(views: PlayerViews) -> np.ndarray:
    """(B,) bool: which decisions are discards; the others belong to the play."""
    return views.discards[:, 1] < 0


def by_phase(
    views: PlayerViews, throw: Callable[[PlayerViews], np.ndarray], lay: Callable[[PlayerViews], np.ndarray]
) -> np.ndarray:
    """(B,) cards: of ``throw`` for the discards, of ``lay`` for the decisions of the play."""
    discarding = is_discard(views)
    if discarding.all():
        return throw(views)
    if not discarding.any():
        return lay(views)
    cards = np.empty(len(views), np.int64)
    cards[discarding], cards[~discarding] = throw(views[discarding]), lay(views[~discarding])
    return cards


def lowest_of_rank(views: PlayerViews, ranks: np.ndarray) -> np.ndarray:
    """(B,) the lowest legal card of each of ``ranks`` (B,); suits have no part in the play."""
    return 13 * views.action_mask.reshape(-1, 4, 13)[np.arange(len(ranks)), :, ranks].argmax(axis=1) + ranks


def six_dealt(views: PlayerViews) -> np.ndarray:
    """(B, 6) int64: held and thrown cards at a discard, sorted, as the exact values want them."""
    return np.sort(np.concatenate([views.hand, views.discards], axis=1), axis=1)[:, 2:].astype(np.int64)


def pairs_open(views: PlayerViews, six: np.ndarray) -> np.ndarray:
    """(B, 15) bool: which pairs of the sorted six cards hold what is already thrown."""
    thrown = views.discards[:, 0]
    return (thrown[:, None] < 0) | (six[:, PLACES] == thrown[:, None, None]).any(axis=2)


def next_thrown(views: PlayerViews, values: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """The next card of the best pair that holds what is already thrown.

    Args:
        views: discards to be made.
        values: (B, 15) what each pair is worth, in the order of :func:`crib_env.discard_statistics`.
        ties: (B, 15) decides between pairs of equal value; then comes the first in the order of ids.

    Returns:
        (B,) card ids.
    """
    six = six_dealt(views)
    pairs, thrown = six[:, PLACES], views.discards[:, 0]
    values = np.where(pairs_open(views, six), values, -np.inf)
    best = values >= values.max(axis=1, keepdims=True) - _SAME
    pair = pairs[np.arange(len(views)), np.where(best, ties, -np.inf).argmax(axis=1)]
    return np.where(pair[:, 0] == thrown, pair[:, 1], pair[:, 0])
