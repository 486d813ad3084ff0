"""What the networks of ``best`` see: everything that a player knows, said so that little of it need be worked out.

All of it follows from the board observation. In the play cards are ranks, as suits have no part in it. A pair to throw
is seen with the exact means of the hand that it leaves and of a crib that it lies in; of suits there remains whether
those of the four are all one, and those of the two.
"""

from __future__ import annotations

import numpy as np

from crib_env import PlayerViews
from crib_env.engine import WIN
from crib_env.exact.discard_means import COMPLETIONS, STARTERS
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES, TOTALS, fill_totals
from crib_env.kernels import kernel, mask_of
from crib_env.scoring import pile_points, show_points

# A score is seen as the holes that are left to go, finely where the game is near its end.
_HOLES = np.array([*range(1, 31), *range(35, WIN, 5)], np.int64)
_POINTS = np.array([2, 3, 4, 6, 8], np.int64)  # steps of what a card would make now
_MOST_SHOWN = 24  # steps of the points of the own hand
_SCORES = 2 * len(_HOLES)

_SCALE = 4.0  # means are seen in units of so many points

N_DISCARD_INPUTS = 5 + 6 * 13 + _SCORES
N_PLAY_INPUTS = 1 + 13 * (4 + 2 + 1 + 4 + 1 + len(_POINTS)) + 8 * 15 + 32 + 5 + _MOST_SHOWN + _SCORES


@kernel
def _write_steps(value, steps, out, row, at):
    """One input for each step, 1 if the value reaches it; the place after them."""
    for k in range(len(steps)):
        out[row, at + k] = value >= steps[k]
    return at + len(steps)


@kernel
def _write_counts(counts, most, out, row, at):
    """For each of 13 ranks ``most`` inputs: whether there are at least 1, 2, … cards of it; the place after them."""
    for rank in range(13):
        for k in range(most):
            out[row, at + most * rank + k] = counts[rank] > k
    return at + most * 13


@kernel
def _count(cards, counts):
    """Adds cards (-1 is none) to counts by rank."""
    for card in cards:
        if card >= 0:
            counts[card % 13] += 1


@kernel
def _fill_play(hand, discards, starter, laid, laid_by, pile_start, count, scores, is_dealer, opponent_cards, out):
    held, thrown, seen = np.empty(13, np.int64), np.empty(13, np.int64), np.empty(13, np.int64)
    pile = np.zeros(9, np.int64)
    for b in range(len(out)):
        held[:], thrown[:] = 0, 0
        _count(hand[b], held)
        _count(discards[b], thrown)
        seen[:] = held + thrown
        _count(laid[b], seen)
        seen[starter[b] % 13] += 1
        kept = mask_of(hand[b])
        n, so_far = np.int64(0), np.int64(count[b])
        out[b, 0] = is_dealer[b]
        at = _write_counts(held, 4, out, b, 1)
        at = _write_counts(thrown, 2, out, b, at)
        at = _write_counts(seen, 4, out, b, at)
        for rank in range(13):
            out[b, at + rank] = starter[b] % 13 == rank
        at += 13
        for k in range(8):
            if laid[b, k] >= 0:
                out[b, at + 15 * k + laid[b, k] % 13] = 1
                out[b, at + 15 * k + 13] = laid_by[b, k] == 0
                out[b, at + 15 * k + 14] = k >= pile_start[b]
                if laid_by[b, k] == 0:
                    kept |= np.int64(1) << laid[b, k]
                pile[k] = laid[b, k] % 13
                n += 1
        at += 8 * 15
        out[b, at + so_far] = 1
        at += 32
        out[b, at + opponent_cards[b]] = 1
        at += 5
        for rank in range(13):  # what each rank held would make, and whether it may be laid
            after = so_far + min(rank + 1, 10)
            points = np.int64(0)
            if held[rank] and after <= 31:
                out[b, at] = 1
                pile[n] = rank
                points = pile_points(pile, np.int64(pile_start[b]), n + 1, after)
            at = _write_steps(points, _POINTS, out, b, at + 1)
        shown = show_points(kept, np.int64(starter[b]), False)
        for k in range(_MOST_SHOWN):
            out[b, at + k] = shown > k
        at += _MOST_SHOWN
        for seat in range(2):
            at = _write_steps(WIN - scores[b, seat], _HOLES, out, b, at)


@kernel
def _fill_discards(six, totals, scores, is_dealer, out):
    kept, thrown = np.empty(13, np.int64), np.empty(13, np.int64)
    suits = np.empty(4, np.int64)
    for b in range(len(out)):
        row = out[b]
        for k in range(N_DISCARDS):
            first, second = six[b, PLACES[k, 0]], six[b, PLACES[k, 1]]
            kept[:], thrown[:], suits[:] = 0, 0, 0
            for card in six[b]:
                if card in (first, second):
                    thrown[card % 13] += 1
                else:
                    kept[card % 13] += 1
                    suits[card // 13] += 1
            row[k, 0] = is_dealer[b]
            row[k, 1] = first // 13 == second // 13
            row[k, 2] = suits.max() == 4
            row[k, 3] = totals[b, k]["hand_total"] / STARTERS / _SCALE
            row[k, 4] = totals[b, k]["crib_total"] / COMPLETIONS / _SCALE
            at = _write_counts(kept, 4, row, k, 5)
            at = _write_counts(thrown, 2, row, k, at)
            for seat in range(2):
                at = _write_steps(WIN - scores[b, seat], _HOLES, row, k, at)


def play_inputs(views: PlayerViews) -> np.ndarray:
    """What the play's network sees in B decisions, (B, ``N_PLAY_INPUTS``) int8."""
    out = np.zeros((len(views), N_PLAY_INPUTS), np.int8)
    _fill_play(
        views.hand,
        views.discards,
        views.starter,
        views.laid,
        views.laid_by,
        views.pile_start,
        views.count,
        views.scores,
        views.is_dealer,
        views.opponent_cards,
        out,
    )
    return out


def discard_inputs(six: np.ndarray, scores: np.ndarray, is_dealer: np.ndarray) -> np.ndarray:
    """What the discards' network sees of fifteen pairs to throw, (B, 15, ``N_DISCARD_INPUTS``) float32.

    Args:
        six: (B, 6) int64, the cards dealt, sorted.
        scores: (B, 2) own and the opponent's.
        is_dealer: (B,) bool.
    """
    totals = np.zeros((len(six), N_DISCARDS), TOTALS)
    fill_totals(six, totals)
    out = np.zeros((len(six), N_DISCARDS, N_DISCARD_INPUTS), np.float32)
    _fill_discards(six, totals, scores, is_dealer, out)
    return out
