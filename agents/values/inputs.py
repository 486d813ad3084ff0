"""Inputs of a network that values cards. They all follow from the observation, in a form that is easy to learn from.

They describe the position after a card. Cards are ranks, since suits do not matter in the play. Known cards
include who laid them and when, but not which were discarded and which is the starter. The prospects follow
(:mod:`crib_env.agents.belief.prospects`): how likely the opponent holds each rank, and how further points would change
the probability of winning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.belief.lookahead import least_value
from crib_env.agents.belief.prospects import Prospects, who_laid
from crib_env.engine import WIN
from crib_env.kernels import kernel, mask_of
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points, show_points

# A score is coded one-hot as the holes left to go: one input for each of 0 … 30, then one for every five. With
# thermometer coding a hundred inputs would be 1 at once, and training would be unstable.
_FINE, _STEP, _FAR = 30, 5, 50
_N_HOLES = _FINE + 1 + (_FAR - _FINE) // _STEP + 1
_POINTS = np.array([2, 3, 4, 6, 8], np.int64)  # steps of the points that a card would make now
_LEAST = np.arange(2, 11)  # steps of the least value that a card of the opponent can have
_PEGGED = np.array(
    [0, 1, 2, 3, 4, 6, 8], np.int64
)  # further points pegged for which the network sees the probability of winning
_PERCENT = 100.0
_LEAST_WORTH = 0.1  # percent, the least value of a point, in a decided game

_N_BUT_PROSPECTS = 1 + 13 * 8 + 8 * 15 + 3 * 13 + 32 + 5 + 13 * (1 + len(_POINTS)) + len(_LEAST) + 3 * _N_HOLES
GREEDY_INPUT = _N_BUT_PROSPECTS + 13  # the input that says how likely the opponent is greedy
N_PLAY_INPUTS = GREEDY_INPUT + 2 + (len(_PEGGED) - 1) * (len(_PEGGED) + 1)
_MOST_RANKS = 4  # to choose from in the play


@kernel
def _write_steps(value, steps, out, row, at):
    """Thermometer coding: one input for each step, 1 if the value reaches it; returns the next place."""
    for k in range(len(steps)):
        out[row, at + k] = value >= steps[k]
    return at + len(steps)


@kernel
def _write_counts(counts, most, out, row, at):
    """For each of 13 ranks ``most`` inputs: whether there are at least 1, 2, … cards of it; returns the next place."""
    for rank in range(13):
        for k in range(most):
            out[row, at + most * rank + k] = counts[rank] > k
    return at + most * 13


@kernel
def _write_holes(holes, out, row, at):
    """One-hot coding of the holes to go, none if it is past the last one; returns the next place."""
    place = max(holes, 0)
    if place > _FINE:
        place = _FINE + 1 + (min(place, _FAR + 1) - _FINE - 1) // _STEP
    out[row, at + place] = 1
    return at + _N_HOLES


@kernel
def _count(cards, counts):
    """Adds cards (-1 is none) to counts by rank."""
    for card in cards:
        if card >= 0:
            counts[card % 13] += 1


@kernel
def _write_win(win, made, worth, out, row, at):
    """The probability of winning if nobody pegs again, and how further points pegged change it, in units of "worth".

    First own points, for each number of opponent's points; then opponent's points alone. ``win`` is one of
    :class:`crib_env.agents.belief.prospects.Prospects`.
    """
    out[row, at] = win[made, 0]
    at += 1
    for k in range(len(_PEGGED) + 1):
        for step in range(1, len(_PEGGED)):
            before, after = _PEGGED[step - 1], _PEGGED[step]
            if k < len(_PEGGED):
                moved = win[made + after, _PEGGED[k]] - win[made + before, _PEGGED[k]]
            else:
                moved = win[made, before] - win[made, after]
            out[row, at] = _PERCENT * moved / (after - before) / worth
            at += 1


@kernel
def _fill_after_plays(views, prospects, out):
    held, seen = np.empty(13, np.int64), np.empty(13, np.int64)
    pile = np.zeros(10, np.int64)
    inputs, row = out.seen, 0
    for b in range(len(views.hand)):
        held[:] = 0
        _count(views.hand[b], held)
        seen[:] = held
        _count(views.discards[b], seen)
        _count(views.laid[b], seen)
        starter = np.int64(views.starter[b])
        if starter >= 0:
            seen[starter % 13] += 1
        win = prospects.win[b]
        n, own_laid, _ = who_laid(views.laid[b], views.laid_by[b])
        for k in range(n):
            pile[k] = views.laid[b, k] % 13
        shown = np.int64(0)  # in the pegging episode, without a starter, nothing is shown
        if starter >= 0:
            shown = show_points(mask_of(views.hand[b]) | own_laid, starter, False)
        least = least_value(views.laid[b], views.laid_by[b], np.int64(views.pile_start[b]), n)
        most = _PEGGED[-1]
        point = max(_PERCENT * (win[most, 0] - win[0, most]) / (2 * most), _LEAST_WORTH)
        for rank in range(13):
            now = np.int64(views.count[b]) + card_value(rank)
            if not held[rank] or now > COUNT_LIMIT:
                continue
            start = np.int64(views.pile_start[b])
            pile[n] = rank
            made = pile_points(pile, start, n + 1, now)
            out.decision[row], out.rank[row], out.points[row] = b, rank, made
            out.gain[row], out.worth[row] = _PERCENT * (win[made, 0] - win[0, 0]), point
            held[rank] -= 1
            if now == COUNT_LIMIT:
                start, now = n + 1, 0
            inputs[row, 0] = views.is_dealer[b]
            at = _write_counts(held, 4, inputs, row, 1)
            at = _write_counts(seen, 4, inputs, row, at)
            for k in range(n + 1):
                inputs[row, at + 15 * k + pile[k]] = 1
                inputs[row, at + 15 * k + 13] = k == n or views.laid_by[b, k] == 0
                inputs[row, at + 15 * k + 14] = k >= start
            at += 8 * 15
            for k in range(min(3, n + 1 - start)):  # the latest cards of this count, the newest first
                inputs[row, at + 13 * k + pile[n - k]] = 1
            at += 3 * 13
            inputs[row, at + now] = 1
            at += 32
            inputs[row, at + np.int64(views.opponent_cards[b])] = 1
            at += 5
            for answer in range(13):  # whether a card of each rank could come next, and what it would make
                after, card_points = now + card_value(answer), np.int64(0)
                if after <= COUNT_LIMIT:
                    inputs[row, at] = 1
                    pile[n + 1] = answer
                    card_points = pile_points(pile, start, n + 2, after)
                at = _write_steps(card_points, _POINTS, inputs, row, at + 1)
            at = _write_steps(least, _LEAST, inputs, row, at)
            own = WIN - views.scores[b, 0] - made
            at = _write_holes(own, inputs, row, at)
            at = _write_holes(own - shown, inputs, row, at)
            at = _write_holes(WIN - views.scores[b, 1], inputs, row, at)
            inputs[row, at : at + 13] = prospects.holds[b]
            inputs[row, GREEDY_INPUT] = prospects.greedy[b]
            _write_win(win, made, point, inputs, row, GREEDY_INPUT + 1)
            held[rank] += 1
            row += 1
    return row


class AfterPlays(NamedTuple):
    """The positions after the legal ranks, M of them, one decision after the other."""

    decision: np.ndarray  # (M,) int64, the number of the decision
    rank: np.ndarray  # (M,) int64
    points: np.ndarray  # (M,) int64, the points that the card scores
    gain: np.ndarray  # (M,) float32, what these points add to the probability of winning, percent
    worth: np.ndarray  # (M,) float32, what a point that either player pegs in this deal changes in it, percent
    seen: np.ndarray  # (M, N_PLAY_INPUTS) float32, as the player sees it with the card laid

    @classmethod
    def of(cls, views: PlayerViews) -> AfterPlays:
        """The positions of B decisions of the play."""
        most = _MOST_RANKS * len(views)
        decision, rank, points = np.empty((3, most), np.int64)
        gain, worth = np.empty((2, most), np.float32)
        after = cls(decision, rank, points, gain, worth, np.zeros((most, N_PLAY_INPUTS), np.float32))
        n = _fill_after_plays(views.arrays, Prospects.of(views), after)
        return cls(*(column[:n] for column in after))
