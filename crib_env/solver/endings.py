"""Endings of the play, in which neither player has a choice: at most one card each.

The points of an ending depend on the two cards and on little of the history: the count, the ranks in it that a pair or
a run may still reach, who acts and whether the other has said go. 52,843 tables of points cover the 11.5 million
endings of the whole play.
"""

from __future__ import annotations

import numpy as np

from crib_env.hands import KING, N_RANKS
from crib_env.kernels import kernel
from crib_env.scoring import COUNT_LIMIT, card_value, fill_next_points
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
    net_points,
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


@kernel
def _play_out(start, ranks, s):
    """Plays from ``start`` to the end into ``s``: the actor holds ``ranks[0]`` against ``ranks[1]``."""
    s[:] = start
    while s[CARDS] + s[CARDS + 1]:
        _go_on(ranks, s)


@kernel
def _new_counts():
    """(2, 13, 13) what the actor makes net of a count that it or else the other begins, each with a last card."""
    net, start = np.zeros((2, N_RANKS, N_RANKS), np.int64), np.empty(N_FIELDS, np.int64)
    ranks, s = np.empty(2, np.int64), np.empty(N_FIELDS, np.int64)
    for leader in range(2):
        for ranks[0] in range(N_RANKS):
            for ranks[1] in range(N_RANKS):
                _state_of(np.int64(3), start)
                start[ACTOR] = leader
                _play_out(start, ranks, s)
                net[leader, ranks[0], ranks[1]] = net_points(s)
    return net


@kernel
def _fill_if_laid(then, ranks, s, answers, points):
    """Fills ``points`` (13,) with the net points of the actor, whose card is laid, by the other's last card.

    A card that fits earns what it makes, and a point for the last card unless it makes 31. All that do not fit begin
    the next count alone, so they earn the same.
    """
    fill_next_points(then, np.int64(0), then[N_PILE], then[COUNT], answers)
    fitting = n_playable_ranks(then[COUNT])
    for rank in range(fitting):
        is_last = then[COUNT] + card_value(rank) != COUNT_LIMIT
        points[rank] = net_points(then) - answers[rank] - is_last
    if fitting < N_RANKS:
        ranks[1] = fitting
        _play_out(then, ranks, s)
        points[fitting:] = net_points(s)


@kernel
def _fill_until_new_count(then, ranks, s, points, leaders):
    """Where the actor's card does not fit: by the other's, the actor's net ``points`` (13,) until the next count, and
    who leads in it (13,), or -1 where only one card is left then, which earns a point. No rank of the actor matters."""
    for rank in range(N_RANKS):
        s[:] = then
        ranks[1] = rank
        while s[N_PILE]:
            _go_on(ranks, s)
        points[rank], leaders[rank] = net_points(s), s[ACTOR]
        if s[CARDS + 1] == 0:
            points[rank], leaders[rank] = points[rank] + 1, -1


@kernel
def _fill(keys, first, last, endings):
    start, then, s = np.empty(N_FIELDS, np.int64), np.empty(N_FIELDS, np.int64), np.empty(N_FIELDS, np.int64)
    ranks, answers, points = np.zeros(2, np.int64), np.empty(N_RANKS, np.int64), np.empty(N_RANKS, np.int64)
    until, leaders = np.empty(N_RANKS, np.int64), np.empty(N_RANKS, np.int64)
    new_counts = _new_counts()
    for e in range(first, last):
        _state_of(keys[e], start)
        is_known = False  # until, leaders
        for own in range(N_RANKS if start[CARDS] else 1):
            ranks[0] = KING - own
            then[:] = start
            while then[CARDS] and then[ACTOR] == OF_ACTOR:
                _go_on(ranks, then)
            if start[CARDS + 1] == 0:
                endings[e, OF_ACTOR, 0, own], endings[e, OF_OTHER, own, 0] = net_points(then), -net_points(then)
                continue
            if then[CARDS]:
                if not is_known:
                    _fill_until_new_count(then, ranks, s, until, leaders)
                    is_known = True
                for rank in range(N_RANKS):
                    rest = new_counts[leaders[rank], ranks[0], rank] if leaders[rank] >= 0 else 0
                    points[rank] = until[rank] + rest
            else:
                _fill_if_laid(then, ranks, s, answers, points)
            for other in range(N_RANKS):
                endings[e, OF_ACTOR, other, own] = points[KING - other]
                endings[e, OF_OTHER, own, other] = -points[KING - other]


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
    in_stretches(len(keys), threads, lambda first, last: _fill(keys, first, last, endings))
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
    start, s, ranks = np.empty(N_FIELDS, np.int64), np.empty(N_FIELDS, np.int64), np.empty(2, np.int64)
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
            for other in range(N_RANKS if start[CARDS + 1] else 1):
                ranks[0], ranks[1] = KING - own, KING - other
                _play_out(start, ranks, s)
                points[e, 0, own, other], points[e, 1, own, other] = s[POINTS], s[POINTS + 1]
        if start[N_PILE] <= _SHORT:
            short[count, kind, pile] = points[e]
            known[count, kind, pile] = True
