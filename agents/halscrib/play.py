"""Halscrib's play: three measures of each card, a choice by the situation, and mixed leads and answers.

Kernels for :mod:`crib_env.agents.halscrib.agent`, which names the source and the differences from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.agents.belief.lookahead import (
    ALWAYS,
    FREE,
    NEVER,
    decision_of,
    holds,
    look_ahead,
    lowest_of_rank,
    without_rank,
)
from crib_env.kernels import kernel, lowest
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points

SAFE, OPTIMAL, RISKY = np.arange(3)
LEADS_PAIR = np.array([0.80, 0.65, 0.50])  # by situation: how often to lead from a pair when that is best
ANSWERS_PAIR = np.array([0.35, 0.50, 0.65])  # and how often to pair the lead when that is best
DEPTH = np.int64(3)  # a card, the answer, and the answer to that
_PRIOR = 2.0  # occasions after which observations weigh as much as the equilibrium
_FAR = np.int64(1_000)
_NO_RANK = -1


class _Measures(NamedTuple):
    """The three measures of a card, by rank (13,)."""

    expected: np.ndarray  # float64, net points
    highest: np.ndarray  # int64, the highest net that any hand of the opponent allows
    reply: np.ndarray  # int64, the most that the opponent's next card can make


class _Hands(NamedTuple):
    """The ``n`` hands that the opponent may hold, which stand in ``levels[0]["rest"]``."""

    levels: np.ndarray  # of `lookahead.new_levels`
    weights: np.ndarray  # (N_HANDS,) int64, the number of ways to draw each hand
    n: int


@kernel
def equilibrium(a, b, c, d):
    """Equilibrium frequencies of the first row and of the first column in the zero-sum game with row pay-offs (a,
    b), (c, d)."""
    if max(min(a, b), min(c, d)) >= min(max(a, c), max(b, d)):  # a saddle point: nobody mixes
        return 1.0 if min(a, b) >= min(c, d) else 0.0, 1.0 if max(a, c) <= max(b, d) else 0.0
    mixed = a - b - c + d
    return (d - c) / mixed, (d - b) / mixed


@kernel
def adapted(a, b, c, d, hits, occasions):
    """How often to play the first row against an opponent with a known history.

    The opponent is assumed to play the first column as often as observed, with a prior of ``_PRIOR`` occasions at the
    equilibrium. The answer moves from the equilibrium towards the best reply to that, further with every
    observation.

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
def _highest_reply(pile, rank, unseen, least):
    """The most points that any card the opponent may hold makes in answer to a rank laid now."""
    ranks, start, n = pile.ranks, pile.start, pile.n
    ranks[n] = rank
    count, most = pile.count + card_value(rank), np.int64(0)
    for reply in range(13):
        value = card_value(reply)
        if count + value <= COUNT_LIMIT and value >= least and holds(unseen, reply):
            ranks[n + 1] = reply
            most = max(most, pile_points(ranks, start, n + 2, count + value))
    return most


@kernel
def _better(situation, measures, rank, other):
    """Whether a rank is better than another in a situation."""
    expected, highest, reply = measures
    if situation == SAFE and reply[rank] != reply[other]:
        return reply[rank] < reply[other]
    if situation == RISKY and highest[rank] != highest[other]:
        return highest[rank] > highest[other]
    return expected[rank] > expected[other]


@kernel
def _best_of(situation, choices, measures):
    """The best rank of the choices (a packed hand) in a situation; ties go to the lowest."""
    best = lowest(choices) >> 2
    choices = without_rank(choices, best)
    while choices:
        rank = lowest(choices) >> 2
        choices = without_rank(choices, rank)
        if _better(situation, measures, rank, best):
            best = rank
    return best


@kernel
def _measure(pile, own, choices, unseen, least, hands, measures):
    """Fills the three measures, by rank, for the choices (a packed hand)."""
    expected, highest, reply = measures
    weights, net = hands.weights, hands.levels[0]["net"]
    while choices:
        rank = lowest(choices) >> 2
        choices = without_rank(choices, rank)
        look_ahead(pile, own, rank, FREE, DEPTH, hands.n, hands.levels)
        expected[rank], highest[rank], ways = 0.0, -_FAR, np.int64(0)
        for k in range(hands.n):
            expected[rank] += weights[k] * net[k]
            highest[rank] = max(highest[rank], net[k])
            ways += weights[k]
        expected[rank] /= ways
        reply[rank] = _highest_reply(pile, rank, unseen, least)


@kernel
def _paid(pile, own, rank, hands):
    """Expected net points of a lead or of the answer to a lead, by what the opponent does or has done.

    For a lead: if the opponent pairs it whenever it can, and if it never does. For an answer: if the opponent led
    from a pair, and if it did not.
    """
    paid, ways = np.zeros(2), np.zeros(2)
    rest, net = hands.levels[0]["rest"], hands.levels[0]["net"]
    ranks, n = pile.ranks, pile.n
    for column in range(2):
        if n == 0 or column == 0:
            pairing = FREE if n else ALWAYS if column == 0 else NEVER
            look_ahead(pile, own, rank, pairing, DEPTH, hands.n, hands.levels)
        for k in range(hands.n):
            if n == 0 or (holds(rest[k], ranks[0]) > 0) == (column == 0):
                paid[column] += hands.weights[k] * net[k]
                ways[column] += hands.weights[k]
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


class Mixture(NamedTuple):
    """What is laid in B decisions: ``card`` with probability ``often``, else ``other``."""

    card: np.ndarray  # (B,) int64
    other: np.ndarray  # (B,) int64, the same where nothing is mixed
    often: np.ndarray  # (B,) float64


@kernel
def fill_mixture(views, situations, adaptive, seen, levels, weights, out):
    """Fills a :class:`Mixture` for decisions of the play.

    Args:
        views: ``arrays`` of :class:`crib_env.PlayerViews`.
        situations: (B,) ``SAFE``, ``OPTIMAL`` or ``RISKY``.
        adaptive: whether frequencies follow what is ``seen``.
        seen: (B, 2, 2) float64, of :class:`crib_env.agents.halscrib.agent.Memory`.
        levels: of :func:`crib_env.agents.belief.lookahead.new_levels`.
        weights: (``N_HANDS``,) int64, work space.
    """
    measures = _Measures(np.empty(13), np.empty(13, np.int64), np.empty(13, np.int64))
    for b in range(len(out.card)):
        pile, own, choices, unseen, least, n_hands = decision_of(views, b, levels, weights)
        n, best = pile.n, lowest(choices) >> 2
        second, often = best, 1.0
        if n_hands:
            hands = _Hands(levels, weights, n_hands)
            _measure(pile, own, choices, unseen, least, hands, measures)
            pairs = _pairs_among(choices, own, pile.ranks, n)
            others = choices & ~pairs
            is_mixed = False
            if pairs and others:
                pair = _best_of(OPTIMAL, pairs, measures)
                other = _best_of(OPTIMAL, others, measures)
                is_mixed = adaptive or measures.expected[pair] > measures.expected[other]
                if adaptive:
                    pair_1, pair_2 = _paid(pile, own, pair, hands)
                    other_1, other_2 = _paid(pile, own, other, hands)
                    often = adapted(pair_1, pair_2, other_1, other_2, seen[b, n, 0], seen[b, n, 1])
                elif is_mixed:
                    often = LEADS_PAIR[situations[b]] if n == 0 else ANSWERS_PAIR[situations[b]]
            best = second = _best_of(situations[b], pairs if is_mixed else choices, measures)
            if is_mixed:
                second = _best_of(situations[b], others, measures)
        mask = views.action_mask[b]
        out.card[b], out.other[b], out.often[b] = lowest_of_rank(mask, best), lowest_of_rank(mask, second), often
