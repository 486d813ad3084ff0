"""The public state of the play: what both players have seen, which is the ranks laid and who said go.

The rules here are those of :func:`crib_env.engine.lay`. They are repeated because a game record holds the hands, which
decide who must say go; in a public state both answers are possible.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine import PONE
from crib_env.hands import N_RANKS
from crib_env.kernels import kernel
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points

# A public state is a row of int64: the ranks laid in this count, and then these fields.
(
    N_PILE,  # how many ranks stand in the row's first places, oldest first
    COUNT,
    GONE,  # how many cards of each rank are known, three bits a rank: laid by either player, or the starter
    ACTOR,  # PONE or DEALER: who lays or says go
    ALONE,  # 1 if the actor laid the last card and the other has said go or holds no card
    CARDS,  # cards held by pone, and in the next place by the dealer
    _,
    FLOOR,  # the lowest rank that pone may still hold after saying go, and in the next place the dealer
    _,
    POINTS,  # made in the play by pone, and in the next place by the dealer
    _,
    GOAL,  # points at which pone has won the game, and in the next place the dealer; nobody makes any more then
    _,
    N_FIELDS,
) = range(8, 22)
NEVER = 1_000  # points that nobody makes in the play


def start_of_play(n_cards: int = 4, starter: int | None = None) -> np.ndarray:
    """The public state before pone leads; ``starter`` is the rank of the starter, if there is one."""
    state = np.zeros(N_FIELDS, np.int64)
    state[ACTOR], state[CARDS : CARDS + 2] = PONE, n_cards
    state[GONE] = 0 if starter is None else 1 << (3 * starter)
    state[GOAL : GOAL + 2] = NEVER
    return state


@kernel
def net_points(s):
    """Points of pone less those of the dealer, so far."""
    return s[POINTS] - s[POINTS + 1]


@kernel
def gone_of(gone, rank):
    """How many cards of a rank are known."""
    return (gone >> (3 * rank)) & 7


@kernel
def n_playable_ranks(count):
    """How many ranks may be laid: an ace and the next ones, as long as they fit."""
    room = COUNT_LIMIT - count
    return N_RANKS if room >= 10 else room


@kernel
def _new_count(s, leader):
    s[N_PILE], s[COUNT], s[ALONE], s[ACTOR] = 0, 0, 0, leader


@kernel
def _earn(s, role, points):
    if s[POINTS] < s[GOAL] and s[POINTS + 1] < s[GOAL + 1]:
        s[POINTS + role] += points


@kernel
def _end_count(s, last):
    """Nobody can lay a card: a point for whoever laid the last one, and the other leads if holding cards."""
    _earn(s, last, 1)
    _new_count(s, 1 - last if s[CARDS + 1 - last] else last)


@kernel
def lay_rank(s, rank):
    """The actor lays a card of a rank."""
    actor = s[ACTOR]
    other = 1 - actor
    s[s[N_PILE]] = rank
    s[N_PILE] += 1
    s[COUNT] += card_value(rank)
    s[GONE] += np.int64(1) << (3 * rank)
    s[CARDS + actor] -= 1
    _earn(s, actor, pile_points(s, np.int64(0), s[N_PILE], s[COUNT]))
    if s[COUNT] == COUNT_LIMIT:
        _new_count(s, other if s[CARDS + other] else actor)
    elif s[CARDS] + s[CARDS + 1] == 0:
        _earn(s, actor, 1)  # last card
    elif s[CARDS + other] and not s[ALONE]:
        s[ACTOR] = other
    elif s[CARDS + actor]:
        s[ALONE] = 1
    else:
        _end_count(s, actor)


@kernel
def say_go(s):
    """The actor can lay no card, as both players now know."""
    actor = s[ACTOR]
    other = 1 - actor
    s[FLOOR + actor] = max(s[FLOOR + actor], n_playable_ranks(s[COUNT]))
    if s[ALONE]:
        _end_count(s, actor)
    elif s[CARDS + other]:
        s[ACTOR], s[ALONE] = other, 1
    else:
        _end_count(s, other)
