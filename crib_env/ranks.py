"""The inputs by rank: what a player sees of a decision without suits, and what is known of each card. The blocks that
other codings have in common with them, in :mod:`crib_env.agents`, are written by the same kernels.

:mod:`crib_env.observation` says what each input means. The kernels write them from a game, for environments and
learners, and from views, for agents.

A gain is the part of a reward that is known before the card is laid or discarded. In the play it is the points that the
card earns. Of a discard it is the exact mean of hand and crib after the best pair that holds it, less that of the best
pair of all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.engine import OVER, legal_cards, starter, starter_is_cut
from crib_env.exact.discard_means import COMPLETIONS, fill_discard_totals
from crib_env.kernels import bit, kernel, popcount, scratch
from crib_env.scoring import COUNT_LIMIT, card_value, fill_next_points

# Steps of thermometer codes, in points: how far a discard falls short, what a card would earn, its mean answer.
SHORT_STEPS = np.array([0.1, 0.3, 0.6, 1.0, 1.5, 2.5])
EARNS_STEPS = np.array([1.0, 2.5, 3.5, 5.5])
ANSWER_STEPS = np.array([0.15, 0.3, 0.5, 0.8, 1.2])

# Where each kind of input begins; the last is how many there are.
STARTS = (SHORT, IS_DEALER, HELD, SEEN, LAID, COUNT, LAST, EARNS, ANSWER, THEIRS, N_INPUTS) = np.cumsum(
    [0, 13 * len(SHORT_STEPS), 1, 52, 52, 104, COUNT_LIMIT, 39, 13 * len(EARNS_STEPS), 13 * len(ANSWER_STEPS), 5]
).tolist()


@kernel
def write_steps(value, steps, inputs, row, at):
    """Thermometer coding: 1 for each of the ascending steps that the value reaches."""
    for k in range(len(steps)):
        inputs[row, at + k] = value >= steps[k]


@kernel
def write_pile(pile, start, n, count, inputs, row, at_count, at_latest):
    """Writes the count, one of 0 … 30, and the ranks of the last three cards of ``pile[start:n]``, the latest first."""
    if count < COUNT_LIMIT:
        inputs[row, at_count + count] = 1
    for k in range(min(3, n - start)):
        inputs[row, at_latest + 13 * k + pile[n - 1 - k]] = 1


@kernel
def answer_points(pile, start, n, count, unseen, points):
    """What the answer to the last of ``n`` cards earns, added up over all cards that it may be: ``unseen`` (13,).
    ``points`` (13,) is written over."""
    if count == COUNT_LIMIT:
        start, count = n, 0
    fill_next_points(pile, start, n, count, points)
    total = 0
    for rank in range(13):
        total += unseen[rank] * max(points[rank], 0)
    return total


@kernel
def write_cards(hand, known, unseen, inputs, row):
    """Writes how many cards of each rank are held and how many others known (masks), and fills ``unseen`` (13,)."""
    for rank in range(13):
        held, seen = 0, 0
        for suit in range(4):
            held += (hand >> (13 * suit + rank)) & 1
            seen += (known >> (13 * suit + rank)) & 1
        for k in range(held):
            inputs[row, HELD + 13 * k + rank] = 1
        for k in range(seen):
            inputs[row, SEEN + 13 * k + rank] = 1
        unseen[rank] = 4 - held - seen


@kernel
def write_discard(hand, discarded, is_dealer, legal, inputs, row, gains):
    """Writes how far the best card of each rank falls short, and the gains (52,) of legal cards."""
    cards, totals = scratch(6, np.int64), scratch(6, np.int64)
    best = fill_discard_totals(hand | discarded, discarded, 1 if is_dealer else -1, cards, totals)[1]
    short = scratch(13, np.float64)
    short[:] = np.inf
    for i in range(6):
        card = cards[i]
        if (legal >> card) & 1:
            gains[card] = (totals[i] - best) / COMPLETIONS
            short[card % 13] = min(short[card % 13], -gains[card])
    for rank in range(13):
        if short[rank] < np.inf:
            write_steps(short[rank], SHORT_STEPS, inputs, row, SHORT + len(SHORT_STEPS) * rank)


class Play(NamedTuple):
    """The state of the play, as both players see it."""

    pile: np.ndarray  # (10,) int64: the ranks of the ``n`` cards laid, then places for work
    start: int  # where the cards of this count begin
    n: int
    count: int  # type: ignore[assignment]  # it hides `tuple.count`, which nothing here uses
    theirs: int  # cards that the opponent holds
    unseen: np.ndarray  # (13,) int64 cards of each rank that the player has not seen


@kernel
def write_play(play, legal, inputs, row, gains):
    """Writes the state of the play (:class:`Play`), and the gains (52,) of legal cards."""
    pile, start, n, count, theirs, unseen = play
    for k in range(n):
        inputs[row, LAID + 13 * k + pile[k]] = 1
    write_pile(pile, start, n, count, inputs, row, COUNT, LAST)
    if theirs < 5:
        inputs[row, THEIRS + theirs] = 1
    n_unseen = 0
    for rank in range(13):
        n_unseen += unseen[rank]
    earned, answered = scratch(13, np.int64), scratch(13, np.int64)
    fill_next_points(pile, start, n, count, earned)
    for rank in range(13):
        points = earned[rank]
        if points < 0:
            continue
        write_steps(points, EARNS_STEPS, inputs, row, EARNS + len(EARNS_STEPS) * rank)
        is_legal = False
        for suit in range(4):
            if (legal >> (13 * suit + rank)) & 1:
                gains[13 * suit + rank] = points
                is_legal = True
        if is_legal and theirs:
            pile[n] = rank
            answers = answer_points(pile, start, n + 1, count + card_value(rank), unseen, answered)
            write_steps(answers / n_unseen, ANSWER_STEPS, inputs, row, ANSWER + len(ANSWER_STEPS) * rank)


@kernel
def write_ranks(g, seat, out, row):
    """Writes the inputs by rank of ``seat`` into a row of ``out``, (N, 479) of any type."""
    write_ranks_and_gains(g, seat, out, row, scratch(52, np.float32))


@kernel
def write_ranks_and_gains(g, seat, out, row, gains):
    """The same, and the gains (52,) of legal cards."""
    for place in range(N_INPUTS):
        out[row, place] = 0
    pile, unseen = scratch(10, np.int64), scratch(13, np.int64)
    n = np.int64(g["n_laid"])
    known = g["discards"][seat]
    for k in range(n):
        known |= bit(g["laid"][k])
        pile[k] = g["laid"][k] % 13
    if starter_is_cut(g):
        known |= bit(starter(g))
    out[row, IS_DEALER] = g["dealer"] == seat
    write_cards(g["hand"][seat], known, unseen, out, row)
    legal = legal_cards(g) if seat == g["turn"] and g["phase"] != OVER else np.int64(0)
    if g["kept"][g["dealer"]] != 0:  # the discards are made
        theirs = popcount(g["hand"][1 - seat])
        start, count = np.int64(g["pile_start"]), np.int64(g["count"])
        write_play(Play(pile, start, n, count, theirs, unseen), legal, out, row, gains)
    elif legal:
        write_discard(g["hand"][seat], g["discards"][seat], g["dealer"] == seat, legal, out, row, gains)


@kernel
def _ranks_of(games, rows, seats, out, gains):
    for b in range(len(rows)):
        write_ranks_and_gains(games[rows[b]], seats[b], out, b, gains[b])


def ranks_and_gains_of(games: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inputs by rank (B, 479) int8 of ``seats`` in ``games[rows]``, and gains (B, 52) float32, else -inf."""
    out, gains = np.zeros((len(rows), N_INPUTS), np.int8), np.full((len(rows), 52), -np.inf, np.float32)
    _ranks_of(games, rows, seats, out, gains)
    return out, gains
