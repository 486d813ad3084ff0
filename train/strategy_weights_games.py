"""Games in which Lang's learners play and learn, in one kernel (Lang 2018, sections 3.2, 3.3 and 4.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.engine import (
    DEAL,
    DEALER,
    DISCARD,
    GAME_EPISODE,
    OVER,
    PONE,
    TO_DRAW,
    WIN,
    act,
    begin_deal,
    begin_game,
    legal_cards,
    shuffle,
)
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.kernels import GOLDEN, below, kernel, mix
from crib_env.players.policies import greedy_play
from crib_env.tables.lang_strategies import N_STRATEGIES, weigh_discards

_MOST_DEALS = 2 * WIN  # more than in any game: the last card of every deal scores at least one point
_ADVOCATES = 3  # how many strategies get credit for a discard; those tied with the last of them do too
_START_SPREAD = 60  # points: games start from random scores at most so far apart
_LEAST = 1e-6  # of a weight: one that sank to 0 could never rise again
_PLACES = PLACES.astype(np.int64)
# What the kernel counts, by place in its tally.
COUNTED = ("margin", "discards", "explored", "exploration", "variance")
_MARGIN, _DISCARDS, _EXPLORED, _EXPLORATION, _VARIANCE = range(5)


class Rule(NamedTuple):
    """How a learner explores and learns: settings (``crib_env.train.strategy_weights``) for the kernel."""

    exploration: float
    less_variance: bool
    by_values: bool
    neighbours: float
    scaling: float
    credit_decay: float
    cap: float
    baseline: float


@kernel
def weights_at(weights, own, other, role, neighbours, out):
    """Fills ``out`` (8,) with the weights used at a place: its own, blended with its neighbours'.

    ``neighbours`` is the share Y of the sum over the places at most one point away in either score, the place itself
    included and those off the board left out; its own weights have the share 1 - Y; the blend sums to 1.
    """
    out[:] = weights[own, other, role]
    if neighbours > 0:
        out *= 1 - neighbours
        for i in range(max(own - 1, 0), min(own + 2, WIN)):
            for j in range(max(other - 1, 0), min(other + 2, WIN)):
                for strategy in range(N_STRATEGIES):
                    out[strategy] += neighbours * weights[i, j, role, strategy]
        out /= out.sum()


@kernel
def blend_all(weights, neighbours, out):
    """:func:`weights_at` at every place: ``out`` (121, 121, 2, 8) float32."""
    row = np.empty(N_STRATEGIES)
    for own in range(WIN):
        for other in range(WIN):
            for role in range(2):
                weights_at(weights, own, other, role, neighbours, row)
                out[own, other, role] = row


@kernel
def variance_of(weights):
    """Var(w) with n - 1 in the denominator: 1/8 for one strategy alone, so that 0.3 falls to 0.18 as in Lang."""
    mean = weights.sum() / N_STRATEGIES
    return ((weights - mean) ** 2).sum() / (N_STRATEGIES - 1)


@kernel
def draw(values, word):
    """A random index into ``values``, with probabilities in proportion to them, by a random word."""
    left = np.float64(word >> np.uint64(11)) * 2.0**-53 * values.sum()
    for k in range(len(values) - 1):
        left -= values[k]
        if left < 0:
            return k
    return len(values) - 1


@kernel
def find_advocates(wanted, n, out):
    """Sets ``out`` (8,) bool for the ``n`` strategies that most want a discard, and for those tied with the last."""
    for i in range(N_STRATEGIES):
        more = 0
        for j in range(N_STRATEGIES):
            more += wanted[j] > wanted[i]
        out[i] = more < n


@kernel
def credits(expected, margin, credit_decay, out):
    """Fills ``out`` (T,) with the credit of each deal of a player's game, in points.

    A deal changes the expected margin, from ``expected[j]`` (T,) before it to that before the next deal, and
    after the last to the final ``margin``. Its credit is its own change, plus those of later deals, each
    discounted by a factor of 1 - ``credit_decay`` per deal in between. Where all of ``expected`` is 0, that is
    Lang's margin · (1 - d) ** (T - j).
    """
    credit, after = 0.0, margin
    for j in range(len(out) - 1, -1, -1):
        credit = after - expected[j] + (1 - credit_decay) * credit
        after = expected[j]
        out[j] = credit


@kernel
def update(weights, advocates, factor, cap):
    """Multiplies the advocates' weights, each up to at most ``cap``, and normalises all (8,) to a sum of 1."""
    total = 0.0
    row = np.empty(N_STRATEGIES)
    for i in range(N_STRATEGIES):
        row[i] = weights[i]
        if advocates[i]:
            row[i] = min(factor * row[i], cap)
        row[i] = max(row[i], _LEAST)
        total += row[i]
    for i in range(N_STRATEGIES):
        weights[i] = row[i] / total


@kernel
def _word(g):
    """A random word from a stream that deals do not use."""
    g["policy_stream"] += GOLDEN
    return mix(g["policy_stream"])


@kernel
def _discard(g, weights, pegging, rule, place, advocates, tally):
    """Chooses the discard of the seat to act; records where it was made and who advocated it."""
    seat = np.int64(g["turn"])
    role = DEALER if g["dealer"] == seat else PONE
    place[0], place[1], place[2] = g["scores"][seat], g["scores"][1 - seat], role
    row = np.empty(N_STRATEGIES)
    weights_at(weights, place[0], place[1], role, rule.neighbours, row)
    cards, wanted, values = weigh_discards(g["hand"][seat], row, pegging[role])
    variance = variance_of(row)
    chance = rule.exploration - variance if rule.less_variance else rule.exploration
    if np.float64(_word(g) >> np.uint64(11)) * 2.0**-53 < chance:
        k = draw(values, _word(g)) if rule.by_values else below(_word(g), N_DISCARDS)
        tally[_EXPLORED] += 1
    else:
        k = values.argmax()
    find_advocates(wanted[:, k], _ADVOCATES, advocates)
    tally[_DISCARDS] += 1
    tally[_EXPLORATION] += max(chance, 0.0)
    tally[_VARIANCE] += variance
    act(g, cards[0, _PLACES[k, 0]])
    act(g, cards[0, _PLACES[k, 1]])


@kernel
def play_and_learn(games, n, players, second_learns, expected, pegging, rule, tally):
    """Plays ``n`` games of the record's (1,) stream, and learns after each.

    Args:
        players: two arrays (121, 121, 2, 8) float32, the weights of seats 0 and 1; they may be the same array.
        second_learns: whether the weights of seat 1 change too.
        expected: (121, 121, 2) float32, the expected margin at each place; learned unless ``baseline`` is 0.
        pegging: (2, 1820, 3), from ``lang_strategies.pegging_values``.
        tally: (5,) float64, to which sums are added, see ``COUNTED``; ``margin`` is seat 0's.
    """
    g = games[0]
    places = np.empty((2, _MOST_DEALS, 3), np.int64)
    advocates = np.empty((2, _MOST_DEALS, N_STRATEGIES), np.bool_)
    before, credit = np.empty(_MOST_DEALS), np.empty(_MOST_DEALS)
    for _ in range(n):
        begin_game(g, GAME_EPISODE, TO_DRAW, TO_DRAW, TO_DRAW, _START_SPREAD)
        while g["phase"] != OVER:
            if g["phase"] == DEAL:
                shuffle(g)
                begin_deal(g)
            elif g["phase"] == DISCARD:
                seat, deal = np.int64(g["turn"]), np.int64(g["n_deals"]) - 1
                _discard(g, players[seat], pegging, rule, places[seat, deal], advocates[seat, deal], tally)
            else:
                pile_start, n_laid, count = np.int64(g["pile_start"]), np.int64(g["n_laid"]), np.int64(g["count"])
                act(g, greedy_play(legal_cards(g), g["laid"], pile_start, n_laid, count))
        n_deals = np.int64(g["n_deals"])
        for seat in range(2):
            margin = np.float64(g["scores"][seat] - g["scores"][1 - seat])
            if seat == 0:
                tally[_MARGIN] += margin
            elif not second_learns:
                break
            weights = players[seat]
            for deal in range(n_deals):
                own, other, role = places[seat, deal]
                before[deal] = expected[own, other, role]
            credits(before[:n_deals], margin, rule.credit_decay, credit[:n_deals])
            for deal in range(n_deals):
                own, other, role = places[seat, deal]
                expected[own, other, role] += rule.baseline * credit[deal]
                factor = np.exp(rule.scaling * credit[deal] / 100)
                update(weights[own, other, role], advocates[seat, deal], factor, rule.cap)
