"""Halscrib's play: each card by three measures, a choice among them by the situation, and mixed leads and answers.

Kernels for :mod:`agents.halscrib`, where the source and what differs from it are told.
"""

from __future__ import annotations

import numpy as np

from agents.chance import uniform
from agents.lookahead import (
    ALWAYS,
    FREE,
    MOST_CARDS,
    NEVER,
    holds,
    least_value,
    look_ahead,
    lowest_of_rank,
    packed,
    possible_hands,
    read_laid,
    that_fit,
    unseen_by,
    without_rank,
)
from crib_env.kernels import kernel, lowest
from crib_env.scoring import pile_points

SAFE, OPTIMAL, RISKY = range(3)
LEADS_PAIR = np.array([0.80, 0.65, 0.50])  # by situation: how often a pair is led from when that is best
ANSWERS_PAIR = np.array([0.35, 0.50, 0.65])  # and how often a lead is paired when that is best
DEPTH = 3  # a card, the answer, and the answer to that
_PRIOR = 2.0  # so many occasions to pair must be seen until what is seen weighs as much as the equilibrium
_FAR = np.int64(1_000)
_NO_RANK = -1


@kernel
def equilibrium(a, b, c, d):
    """How often the first row, and the first column, in the zero-sum game with pay-offs (a, b), (c, d) to the rows."""
    if max(min(a, b), min(c, d)) >= min(max(a, c), max(b, d)):  # a saddle point: nobody mixes
        return 1.0 if min(a, b) >= min(c, d) else 0.0, 1.0 if max(a, c) <= max(b, d) else 0.0
    mixed = a - b - c + d
    return (d - c) / mixed, (d - b) / mixed


@kernel
def adapted(a, b, c, d, hits, occasions):
    """How often to play the first row against an opponent of whom something has been seen.

    The opponent is taken to play the first column as often as seen, where an equilibrium player has been seen
    ``_PRIOR`` occasions long before. The answer moves from the equilibrium towards the best reply to that, the further
    the more has been seen.

    Args:
        a, b, c, d: pay-offs to the rows, by row and then column.
        hits, occasions: how often the opponent has played the first column, and how often it could.
    """
    row, column = equilibrium(a, b, c, d)
    seen = (_PRIOR * column + hits) / (_PRIOR + occasions)
    gain = seen * (a - c) + (1 - seen) * (b - d)
    weight = occasions / (_PRIOR + occasions)
    return (1 - weight) * row + weight * (1.0 if gain > 0 else 0.0)


@kernel
def _highest_reply(ranks, start, n, count, rank, unseen, least):
    """The most points that any card the opponent may hold makes in answer to a rank laid now."""
    ranks[n] = rank
    count += min(rank + 1, 10)
    most = np.int64(0)
    for reply in range(13):
        value = min(reply + 1, 10)
        if count + value <= 31 and value >= least and holds(unseen, reply):
            ranks[n + 1] = reply
            most = max(most, pile_points(ranks, start, n + 2, count + value))
    return most


@kernel
def _better(situation, expected, highest, reply, than_expected, than_highest, than_reply):
    """Whether one card is better than another, by the measures of both."""
    if situation == SAFE and reply != than_reply:
        return reply < than_reply
    if situation == RISKY and highest != than_highest:
        return highest > than_highest
    return expected > than_expected


@kernel
def _best_of(situation, choices, expected, highest, reply):
    """The best rank of the choices (a packed hand) in a situation; equal ones: the lowest."""
    best = lowest(choices) >> 2
    choices = without_rank(choices, best)
    while choices:
        rank = lowest(choices) >> 2
        choices = without_rank(choices, rank)
        if _better(situation, expected[rank], highest[rank], reply[rank], expected[best], highest[best], reply[best]):
            best = rank
    return best


@kernel
def _measure(ranks, start, n, count, own, choices, unseen, least, n_hands, levels, weights, expected, highest, reply):
    """Fills the three measures, by rank, for the choices (a packed hand); ``levels[0]["rest"]`` holds the hands."""
    net = levels[0]["net"]
    while choices:
        rank = lowest(choices) >> 2
        choices = without_rank(choices, rank)
        look_ahead(ranks, start, n, count, own, rank, FREE, DEPTH, n_hands, levels)
        expected[rank], highest[rank], ways = 0.0, -_FAR, np.int64(0)
        for k in range(n_hands):
            expected[rank] += weights[k] * net[k]
            highest[rank] = max(highest[rank], net[k])
            ways += weights[k]
        expected[rank] /= ways
        reply[rank] = _highest_reply(ranks, start, n, count, rank, unseen, least)


@kernel
def _paid(ranks, n, count, own, rank, n_hands, levels, weights):
    """What a card of the lead or of the first answer is expected to bring, by what the opponent does or has done.

    Of a lead: if the opponent pairs it whenever it can, and if it never does. Of an answer: if the opponent led from
    a pair, and if it did not.
    """
    paid, ways = np.zeros(2), np.zeros(2)
    rest, net = levels[0]["rest"], levels[0]["net"]
    for column in range(2):
        if n == 0 or column == 0:
            pairing = FREE if n else ALWAYS if column == 0 else NEVER
            look_ahead(ranks, np.int64(0), n, count, own, rank, pairing, DEPTH, n_hands, levels)
        for k in range(n_hands):
            if n == 0 or (holds(rest[k], ranks[0]) > 0) == (column == 0):
                paid[column] += weights[k] * net[k]
                ways[column] += weights[k]
        paid[column] /= max(ways[column], 1.0)
    return paid[0], paid[1]


@kernel
def _pairs_among(choices, own, ranks, n):
    """The part of the choices (a packed hand) that leads from a pair, or pairs the lead; none later in the play."""
    others, rest = choices, choices
    while rest and n < 2:
        rank = lowest(rest) >> 2
        rest = without_rank(rest, rank)
        if holds(own, rank) > 1 if n == 0 else rank == ranks[0]:
            others = without_rank(others, rank)
    return choices & ~others


@kernel
def fill_cards(
    action_mask,
    hand,
    discards,
    starter,
    laid,
    laid_by,
    pile_start,
    count,
    opponent_cards,
    game_ids,
    decisions,
    situations,
    adaptive,
    seen,
    seed,
    levels,
    weights,
    cards,
):
    """Fills ``cards`` (B,) for decisions of the play.

    Args:
        situations: (B,) ``SAFE``, ``OPTIMAL`` or ``RISKY``.
        adaptive: whether frequencies follow what is ``seen``.
        seen: (B, 2, 2) float64, of :class:`agents.halscrib_memory.Memory`.
        seed: uint64, of the mixing.
        levels: of :func:`agents.lookahead.new_levels`.
        weights: (``N_HANDS``,) int64, to be written to.
        action_mask: and what else has the name of a field of :class:`crib_env.PlayerViews` is that field.
    """
    ranks = np.empty(MOST_CARDS, np.int64)
    expected, highest, reply = np.empty(13), np.empty(13, np.int64), np.empty(13, np.int64)
    for b in range(len(cards)):
        n = read_laid(laid[b], ranks)
        start, now = np.int64(pile_start[b]), np.int64(count[b])
        own = packed(hand[b])
        choices = that_fit(own, now)
        best = lowest(choices) >> 2
        if without_rank(choices, best):  # else nothing is to be decided
            theirs = np.int64(opponent_cards[b])
            unseen = unseen_by(hand[b], discards[b], starter[b], laid[b]) if theirs else np.int64(0)
            least = least_value(laid[b], laid_by[b], start, n)
            n_hands = possible_hands(unseen, least, theirs, levels[0]["rest"], weights)
            _measure(
                ranks, start, n, now, own, choices, unseen, least, n_hands, levels, weights, expected, highest, reply
            )
            pairs = _pairs_among(choices, own, ranks, n)
            others = choices & ~pairs
            if pairs and others:
                pair = _best_of(OPTIMAL, pairs, expected, highest, reply)
                other = _best_of(OPTIMAL, others, expected, highest, reply)
                often = -1.0  # nothing is to be mixed
                if adaptive:
                    pair_1, pair_2 = _paid(ranks, n, now, own, pair, n_hands, levels, weights)
                    other_1, other_2 = _paid(ranks, n, now, own, other, n_hands, levels, weights)
                    often = adapted(pair_1, pair_2, other_1, other_2, seen[b, n, 0], seen[b, n, 1])
                elif expected[pair] > expected[other]:
                    often = LEADS_PAIR[situations[b]] if n == 0 else ANSWERS_PAIR[situations[b]]
                if often >= 0:
                    choices = pairs if uniform(seed, game_ids[b], decisions[b]) < often else others
            best = _best_of(situations[b], choices, expected, highest, reply)
        cards[b] = lowest_of_rank(action_mask[b], best)
