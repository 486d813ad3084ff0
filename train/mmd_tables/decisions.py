"""Decisions of the play: how a policy of tables draws its cards in training, and what it learns of them.

With the paper's names, as in :mod:`crib_env.train.mmd`: at a decision s the player lays a with probability π(a | s),
the softmax of its logits z(s, ·). After the deal G is the λ-return, own points less the opponent's from s on: λ of what
followed its next decision, and the rest of what was expected there. The critic Q(s, ·) follows G, and so estimates
every card; the error corrects it for a::

    q(b) = Q(s, b) + [b = a] (G - Q(s, a)) / π(a | s)
    z(s, b) += η (q(b) - Σ π q  -  α (z(s, b) - Σ π z))
    Q(s, a) += c' / (c' + n) (G - Q(s, a))

Where both seats keep doing this, z comes to rest at q / α, less a constant: the best response to itself under a bonus
for entropy of weight α. Both z and Q are sums of tables, which share a step evenly. To Q two more tables are added
whose keys have both hands, in training alone: the luck of the hidden cards then makes less noise.

Each bucket counts the decisions n from which it has learned, and its steps become shorter with them::

    1 / η = 1 / (step size) + α n / c

So after many decisions z is a mean of q / α in which the latest count for more, with weights n^(c - 1), as Q is of G
with c'. A bucket that comes up rarely takes long steps to the end, one that comes up often has little noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.agents.mmd_tables import (
    BUCKET,
    LOGIT,
    N_PARTS,
    N_TABLES,
    SEEN,
    Discards,
    Pile,
    fill_buckets,
    fill_legal_cards,
    no_discards,
    ranks_held,
    softmax,
)
from crib_env.engine import legal_cards, random_word
from crib_env.kernels import GOLDEN, below, kernel, mix, popcount

N_CRITIC_TABLES = 2
_DECISIONS = 6  # with a choice, at most, in the play of eight cards: the last card of a player is none
_LEAST = 0.2  # a correction is divided by no smaller chance: less noise, a little bias
_VALUE = 1  # where values stand in a bucket, beside logits
_ONE = np.uint64(1)


class Tables(NamedTuple):
    """What is learned. Of a bucket, one number for each rank that may be laid, the lowest first."""

    play: np.ndarray
    """(``N_TABLES``, 2**bits, 2, ``BUCKET``) float32: logits, and then the critic's part that sees what the player
    sees, points. Both stand in one line of the cache."""
    both: np.ndarray
    """(``N_CRITIC_TABLES``, 2**bits, ``BUCKET``) float32, its part that sees both hands."""
    discards: np.ndarray
    """(2, ``N_LEARNED``) float32: points (:mod:`crib_env.agents.mmd_tables`), and how many deals each is from."""


class Rates(NamedTuple):
    """The settings of a deal."""

    temperature: float  # α, points
    step: float  # η of a bucket's first decision, a point
    recency: float  # c
    critic_recency: float  # c'
    both: float  # share of its error that the critic's part learns that sees both hands
    td_lambda: float
    epsilon: float  # probability of a random card


class Deal(NamedTuple):
    """Work arrays: the decisions of a deal, oldest first."""

    buckets: np.ndarray  # (_DECISIONS, N_TABLES) int64
    both: np.ndarray  # (_DECISIONS, N_CRITIC_TABLES) int64
    logits: np.ndarray  # (_DECISIONS, BUCKET) float64, and so the next two
    values: np.ndarray
    chances: np.ndarray
    slopes: np.ndarray  # (BUCKET,) of the last decision
    n: np.ndarray  # (_DECISIONS,) int64 how many ranks could be laid
    place: np.ndarray  # (_DECISIONS,) int64 which of them was
    probability: np.ndarray  # (_DECISIONS,) float64 how likely, exploration included
    seat: np.ndarray  # (_DECISIONS,) int64 who decided
    lead: np.ndarray  # (_DECISIONS,) float64 own points less the opponent's, before
    learned_at: np.ndarray  # (2, N_PARTS) int64 the parts of what is learned of the discards, by seat
    crib: np.ndarray  # (2,) float64 the known mean of the crib after a seat's discards, minus that as pone
    discards: Discards  # of the six cards that a seat was dealt


def no_deal() -> Deal:
    """Work arrays."""
    wide, numbers, whole = np.zeros((_DECISIONS, BUCKET)), np.zeros(_DECISIONS), np.zeros(_DECISIONS, np.int64)
    return Deal(
        buckets=np.zeros((_DECISIONS, N_TABLES), np.int64),
        both=np.zeros((_DECISIONS, N_CRITIC_TABLES), np.int64),
        logits=wide.copy(),
        values=wide.copy(),
        chances=wide.copy(),
        slopes=np.zeros(BUCKET),
        n=whole.copy(),
        place=whole.copy(),
        probability=numbers.copy(),
        seat=whole.copy(),
        lead=numbers.copy(),
        learned_at=np.zeros((2, N_PARTS), np.int64),
        crib=np.zeros(2),
        discards=no_discards(),
    )


@kernel
def uniform(g):
    """A random number from 0 to 1, of the deal's own stream."""
    return np.float64(random_word(g) >> np.uint64(11)) / 2.0**53


@kernel
def drawn_place(chances, n, number):
    """Which of ``n`` places a number from 0 to 1 draws."""
    for k in range(n - 1):
        number -= chances[k]
        if number < 0:
            return k
    return n - 1


@kernel
def _fill_both(g, held, theirs, me, last_bucket, both):
    """The buckets of the critic's tables that see both hands: with all cards of this count, and with the last one."""
    hands = mix(np.uint64(held) ^ mix(np.uint64(theirs)))
    n, start = np.int64(g["n_laid"]), np.int64(g["pile_start"])
    hands += np.uint64(n > start and g["laid_by"][n - 1] == me)
    cards, last = hands, np.uint64(0)
    for k in range(start, n):
        last = np.uint64(g["laid"][k] % 13) + _ONE
        cards = mix(cards + last)
    both[0] = np.int64(cards & last_bucket)
    both[1] = np.int64(mix(hands + GOLDEN * (last + np.uint64(16) * np.uint64(g["count"] + 1))) & last_bucket)


@kernel
def decide(g, tables, deal, t, cards, epsilon):
    """Fills decision ``t`` of the deal; returns the card that the seat to act lays."""
    me, legal = np.int64(g["turn"]), legal_cards(g)
    hand, theirs = g["hand"][me], g["hand"][1 - me]
    n = fill_legal_cards(legal, cards)
    held = ranks_held(hand)
    pile = Pile(np.int64(g["n_laid"]), np.int64(g["pile_start"]), np.int64(g["count"]), popcount(theirs))
    fill_buckets(held, g["laid"], g["laid_by"], me, pile, np.uint64(tables.play.shape[1] - 1), deal.buckets[t])
    _fill_both(g, held, ranks_held(theirs), me, np.uint64(tables.both.shape[1] - 1), deal.both[t])
    for k in range(n):
        logit, value = 0.0, 0.0
        for table in range(N_TABLES):
            at = deal.buckets[t, table]
            if k != SEEN:
                logit += tables.play[table, at, LOGIT, k]
            value += tables.play[table, at, _VALUE, k]
        for table in range(N_CRITIC_TABLES):
            value += tables.both[table, deal.both[t, table], k]
        deal.logits[t, k], deal.values[t, k] = logit, value
    softmax(deal.logits[t], n, deal.chances[t])
    place = below(random_word(g), n) if uniform(g) < epsilon else drawn_place(deal.chances[t], n, uniform(g))
    probability = (1 - epsilon) * deal.chances[t, place] + epsilon / n
    deal.n[t], deal.place[t], deal.probability[t], deal.seat[t] = n, place, probability, me
    deal.lead[t] = g["scores"][me] - g["scores"][1 - me]
    return cards[place]


@kernel
def learning_share(seen, recency):
    """The share of an error that is learned after ``seen`` others."""
    return recency / (recency + seen)


@kernel
def learn(tables, deal, t, target, rates):
    """Learns from decision ``t``, whose return is ``target``; returns the critic's error, and π's value and entropy
    there."""
    n, place = deal.n[t], deal.place[t]
    error = target - deal.values[t, place]
    correction = error / max(deal.probability[t], _LEAST)
    value, mean_logit = 0.0, 0.0
    for k in range(n):
        value += deal.chances[t, k] * deal.values[t, k]
        mean_logit += deal.chances[t, k] * deal.logits[t, k]
    corrected = value + deal.chances[t, place] * correction
    for k in range(n):
        q = deal.values[t, k] + (correction if k == place else 0.0)
        deal.slopes[k] = q - corrected - rates.temperature * (deal.logits[t, k] - mean_logit)
    for table in range(N_TABLES):
        bucket = tables.play[table, deal.buckets[t, table]]
        seen = bucket[LOGIT, SEEN]
        bucket[LOGIT, SEEN] += np.float32(1)
        step = rates.step / (1 + rates.step * rates.temperature * seen / rates.recency) / N_TABLES
        for k in range(1, n):
            bucket[LOGIT, k] += step * (deal.slopes[k] - deal.slopes[0])
        bucket[_VALUE, place] += learning_share(seen, rates.critic_recency) * error / N_TABLES
    for table in range(N_CRITIC_TABLES):
        tables.both[table, deal.both[t, table], place] += rates.both * error
    likely = max(deal.chances[t, place], _LEAST)
    return error, value, deal.logits[t, place] - np.log(likely) - mean_logit
