"""Where the tables of :mod:`crib_env.agents.tables.agent` keep what they know of an information state.

Each table keeps it under a key of its own. One key is all of an information state of the pegging game, the others are
parts of it, in which many information states agree: what is learned in one holds in all. The starter of a whole deal
is no part of any key. Keys are hashed to buckets, and no bucket
knows whose it is: two keys may share one, as in tile coding (Sutton and Barto 2018, section 9.5.4). Suits have no part
in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.hands import N_RANKS, ranks_in
from crib_env.kernels import GOLDEN, kernel, lowest, mix

N_TABLES = 4
BUCKET = 4  # places in a bucket, for the ranks that may be laid, lowest first: no hand has more than four
LOGIT = 0
"""Where logits stand in a bucket; in training the critic's values stand beside them. Only differences of logits count,
so that of the lowest rank is 0, and not kept."""
SEEN = 0
"""The lowest rank's place. Training counts there from how many decisions the bucket has learned."""

_OPPONENT = np.uint64(16)  # added to the ranks that the opponent laid
_NO_RANK = np.uint64(N_RANKS)
_S29 = np.uint64(29)


class Pile(NamedTuple):
    """What lies on the table at a decision."""

    n_laid: np.int64  # by both players, in this and earlier counts
    start: np.int64  # of the first card of this count among them
    count: np.int64  # type: ignore[assignment]  # it hides `tuple.count`, which nobody needs
    opponent_cards: int | np.int64  # how many the opponent still holds


@kernel
def ranks_held(hand):
    """The ranks of a hand (a mask), four bits to a rank."""
    held = np.int64(0)
    while hand:
        held += np.int64(1) << (4 * (lowest(hand) % 13))
        hand &= hand - 1
    return held


@kernel
def _append(key, card):
    key = (key ^ card) * GOLDEN
    return key ^ (key >> _S29)


@kernel
def fill_buckets(held, laid, laid_by, me, pile, last_bucket, buckets):
    """Fills the bucket of each table at a decision of the play.

    Args:
        held: the own hand, of :func:`ranks_held`.
        laid, laid_by: (8,) card ids, oldest first, and who laid each.
        me: who decides, as ``laid_by`` calls it.
        pile: a :class:`Pile`.
        last_bucket: uint64, the highest number of a bucket, one less than a power of two.
        buckets: (``N_TABLES``,) int64.
    """
    hand = mix(np.uint64(held))
    whole, count, theirs, last = hand, hand ^ GOLDEN, np.uint64(0), _NO_RANK
    for k in range(pile.n_laid):
        rank = np.uint64(laid[k] % 13)
        card = rank + np.uint64(1) + _OPPONENT * np.uint64(laid_by[k] != me)
        whole = _append(whole, card)
        if k >= pile.start:
            count, last = _append(count, card), rank
        if laid_by[k] != me:
            theirs += np.uint64(1) << (np.uint64(4) * rank)
    said_go = pile.n_laid > pile.start and laid_by[pile.n_laid - 1] == me  # the opponent has, since the turn came back
    now = np.uint64(pile.count + 32 * pile.opponent_cards + 256 * said_go)
    latest = _append(hand, now + np.uint64(512) * last)
    buckets[0] = np.int64(mix(whole) & last_bucket)  # all
    buckets[1] = np.int64(mix(_append(count, now)) & last_bucket)  # this count, card by card
    buckets[2] = np.int64(mix(latest) & last_bucket)  # its last card
    buckets[3] = np.int64(mix(_append(latest, mix(theirs))) & last_bucket)  # that, and all ranks that the opponent laid


@kernel
def fill_legal_cards(legal, cards):
    """Writes one legal card (a mask) of each rank, lowest rank first; returns how many."""
    n, ranks = 0, ranks_in(legal)
    while ranks:
        card = lowest(ranks)
        ranks &= ranks - 1
        while not (legal >> card) & 1:
            card += 13
        cards[n] = card
        n += 1
    return n


@kernel
def softmax(logits, n, chances):
    """Writes how likely each of the first ``n`` places is by its logit."""
    most, total = logits[0], 0.0
    for k in range(1, n):
        most = max(most, logits[k])
    for k in range(n):
        chances[k] = np.exp(logits[k] - most)
        total += chances[k]
    for k in range(n):
        chances[k] /= total
