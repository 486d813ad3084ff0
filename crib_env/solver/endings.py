"""Endings of the play, in which neither player has a choice: at most one card each.

The points of an ending depend on the two cards and on little of the history: the count, the ranks in it that a pair or
a run may still reach, who acts and whether the other has said go. 52,843 tables of points cover the 11.5 million
endings of the whole play.
"""

from __future__ import annotations

import numpy as np

from crib_env.hands import KING, N_RANKS
from crib_env.kernels import kernel
from crib_env.scoring import COUNT_LIMIT
from crib_env.solver import in_stretches
from crib_env.solver.public_state import (
    ACTOR,
    ALONE,
    CARDS,
    COUNT,
    GOAL,
    N_FIELDS,
    N_PILE,
    NEVER,
    POINTS,
    lay_rank,
    n_playable_ranks,
    say_go,
)

OF_ACTOR, OF_OTHER = range(2)
WIDTH = 16  # thirteen hands of one card, and padding that suits vector registers


@kernel
def _first_that_counts(s):
    """The first rank of this count that may still earn points, with one of the last cards: in a pair or in a run."""
    last, cards_left = s[N_PILE] - 1, s[CARDS] + s[CARDS + 1]
    first, seen, low, high = max(last, 0), np.int64(0), np.int64(N_RANKS), np.int64(-1)
    while first > 0 and s[first - 1] == s[last]:
        first -= 1
    if first < last:  # a run has no pairs
        return first
    for k in range(last, -1, -1):
        if (seen >> s[k]) & 1:
            break
        seen |= np.int64(1) << s[k]
        low, high = min(low, s[k]), max(high, s[k])
        if high - low <= last - k + cards_left:
            first = k
    return first


@kernel
def ending_key(s):
    """A number, never negative, for all that decides the points of an ending, from the actor's side."""
    key, first = np.int64(0), _first_that_counts(s)
    for k in range(first, s[N_PILE]):
        key = (key << 4) | s[k]
    actor, n = s[ACTOR], s[N_PILE] - first
    return ((((key << 4 | n) << 5 | s[COUNT]) << 1 | s[ALONE]) << 1 | s[CARDS + actor]) << 1 | s[CARDS + 1 - actor]


@kernel
def _state_of(key, s):
    """A public state of a key, as if the actor were pone."""
    s[:] = 0
    s[GOAL], s[GOAL + 1] = NEVER, NEVER
    s[CARDS + 1], s[CARDS], s[ALONE] = key & 1, (key >> 1) & 1, (key >> 2) & 1
    s[COUNT], s[N_PILE] = (key >> 3) & 31, (key >> 8) & 15
    key >>= 12
    for k in range(s[N_PILE] - 1, -1, -1):
        s[k] = key & 15
        key >>= 4


@kernel
def _go_on(ranks, s):
    """Whoever acts lays a card, or says go."""
    rank = ranks[s[ACTOR]]
    if rank < n_playable_ranks(s[COUNT]):
        lay_rank(s, rank)
    else:
        say_go(s)


def make_endings(keys: np.ndarray, threads: int) -> np.ndarray:
    """Tables of points for E endings.

    Args:
        keys: (E,) int64, see :func:`ending_key`.

    Returns:
        (E, 2, 13, 16) int8. ``[e, OF_ACTOR, y, x]`` are the net points of the player who acts first, with hand x
        against hand y. ``[e, OF_OTHER, y, x]`` are those of the other player, with hand x against hand y. Hands of one
        card are numbered as in :mod:`crib_env.hands`; a player without a card has hand 0.
    """
    endings = np.zeros((len(keys), 2, N_RANKS, WIDTH), np.int8)

    def fill(first: int, last: int) -> None:
        points = ending_points(keys[first:last])
        net = points[:, 0] - points[:, 1]
        endings[first:last, OF_ACTOR, :, :N_RANKS] = net.transpose(0, 2, 1)
        endings[first:last, OF_OTHER, :, :N_RANKS] = -net

    in_stretches(len(keys), threads, fill)
    return endings


_SHORT = 2  # cards: few endings depend on more of those of the last count
_KNOWN = np.zeros((COUNT_LIMIT, 2 * 2 * 2, (N_RANKS + 1) ** _SHORT), np.bool_)
_POINTS = np.zeros((*_KNOWN.shape, 2, N_RANKS, N_RANKS), np.int8)  # 16 MB when all are known


def ending_points(keys: np.ndarray) -> np.ndarray:
    """What both players make in E endings.

    Args:
        keys: (E,) int64, see :func:`ending_key`.

    Returns:
        (E, 2, 13, 13) int8: ``[e, 0, x, y]`` is what whoever acts first makes with hand x against hand y, and ``[e, 1,
        x, y]`` what the other makes then.
    """
    points = np.zeros((len(keys), 2, N_RANKS, N_RANKS), np.int8)
    _fill_points(keys, _KNOWN, _POINTS, points)
    return points


@kernel
def _fill_points(keys, known, short, points):
    start, then, s = np.empty(N_FIELDS, np.int64), np.empty(N_FIELDS, np.int64), np.empty(N_FIELDS, np.int64)
    ranks = np.empty(2, np.int64)
    for e in range(len(keys)):
        _state_of(keys[e], start)
        count, kind, pile = start[COUNT], keys[e] & 7, 0
        if start[N_PILE] <= _SHORT:
            for k in range(start[N_PILE]):
                pile = pile * (N_RANKS + 1) + start[k] + 1
            if known[count, kind, pile]:
                points[e] = short[count, kind, pile]
                continue
        for own in range(N_RANKS if start[CARDS] else 1):
            ranks[0] = KING - own
            then[:] = start
            while then[CARDS] and then[ACTOR] == 0:  # whatever the other holds
                _go_on(ranks, then)
            for other in range(N_RANKS if start[CARDS + 1] else 1):
                ranks[1] = KING - other
                s[:] = then
                while s[CARDS] + s[CARDS + 1]:
                    _go_on(ranks, s)
                points[e, 0, own, other], points[e, 1, own, other] = s[POINTS], s[POINTS + 1]
        if start[N_PILE] <= _SHORT:
            short[count, kind, pile] = points[e]
            known[count, kind, pile] = True
