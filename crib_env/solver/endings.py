"""Endings of the play, in which neither player has a choice: at most one card each.

The points of an ending depend on the two cards and on little of the history: the ranks in this count, who acts and
whether the other has said go. 652,706 tables of points cover the 11.5 million endings of the whole play.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from crib_env.kernels import kernel
from crib_env.scoring import card_value
from crib_env.solver.hands import KING, N_RANKS
from crib_env.solver.public_state import (
    ACTOR,
    ALONE,
    CARDS,
    COUNT,
    N_FIELDS,
    N_PILE,
    NET,
    lay_rank,
    n_playable_ranks,
    say_go,
)

OF_ACTOR, OF_OTHER = range(2)
WIDTH = 16  # thirteen hands of one card, and padding that suits vector registers


@kernel
def ending_key(s):
    """A number, never negative, for all that decides the points of an ending, from the actor's side."""
    key = np.int64(0)
    for k in range(s[N_PILE]):
        key = (key << 4) | s[k]
    actor = s[ACTOR]
    return ((((key << 4 | s[N_PILE]) << 1 | s[ALONE]) << 1 | s[CARDS + actor]) << 1) | s[CARDS + 1 - actor]


@kernel
def _state_of(key, s):
    """The public state of a key, as if the actor were pone."""
    s[:] = 0
    s[CARDS + 1], s[CARDS], s[ALONE], s[N_PILE] = key & 1, (key >> 1) & 1, (key >> 2) & 1, (key >> 3) & 15
    key >>= 7
    for k in range(s[N_PILE] - 1, -1, -1):
        s[k] = key & 15
        s[COUNT] += card_value(s[k])
        key >>= 4


@kernel
def _points(start, ranks, s):
    """Net points of the actor, who holds ``ranks[0]`` against ``ranks[1]``."""
    s[:] = start
    while s[CARDS] + s[CARDS + 1]:
        rank = ranks[s[ACTOR]]
        if rank < n_playable_ranks(s[COUNT]):
            lay_rank(s, rank)
        else:
            say_go(s)
    return s[NET]


@kernel
def _fill(keys, first, last, endings):
    start, s, ranks = np.empty(N_FIELDS, np.int64), np.empty(N_FIELDS, np.int64), np.empty(2, np.int64)
    for e in range(first, last):
        _state_of(keys[e], start)
        for own in range(N_RANKS if start[CARDS] else 1):
            for other in range(N_RANKS if start[CARDS + 1] else 1):
                ranks[0], ranks[1] = KING - own, KING - other
                points = _points(start, ranks, s)
                endings[e, OF_ACTOR, other, own] = points
                endings[e, OF_OTHER, own, other] = -points


def make_endings(keys: np.ndarray, threads: int) -> np.ndarray:
    """Tables of points for E endings.

    Args:
        keys: (E,) int64, see :func:`ending_key`.
        threads: how many threads fill them.

    Returns:
        (E, 2, 13, 16) int8. ``[e, OF_ACTOR, y, x]`` are the net points of the player who acts first, with hand x
        against hand y. ``[e, OF_OTHER, y, x]`` are those of the other player, with hand x against hand y. Hands of one
        card are numbered as in :mod:`crib_env.solver.hands`; a player without a card has hand 0.
    """
    endings = np.zeros((len(keys), 2, N_RANKS, WIDTH), np.int8)
    ends = np.linspace(0, len(keys), 16 * threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda first, last: _fill(keys, first, last, endings), ends[:-1], ends[1:]))
    return endings
