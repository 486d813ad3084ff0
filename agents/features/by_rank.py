"""What a Q-network sees of a decision by rank, and what each card is known to gain at once.

Suits have no part in the play, and before it they matter only for flushes and his nobs, which exact values count. So
ranks are enough, and no two positions that differ in their suits alone need to be learned twice. All of it follows from
the 209 bits.

A gain is the part of a reward that is known before the card is laid or discarded. In the play it is the points that the
card earns. Of a discard it is the exact mean of hand and crib after the best pair that holds it, less that of the best
pair of all. A network then only has to learn what comes after.
"""

from __future__ import annotations

import numpy as np

from crib_env.agents.features.play import read_pile
from crib_env.exact.discard_means import COMPLETIONS, HAND_SCALE, crib_total, hand_total
from crib_env.kernels import bit, kernel
from crib_env.observation import HAND, KNOWN, N_ACTIONS, SLOTS
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points

# Steps of thermometer codes, in points: how far a discard falls short, what a card would earn, its mean answer.
_SHORT = np.array([0.1, 0.3, 0.6, 1.0, 1.5, 2.5])
_POINTS = np.array([1.0, 2.5, 3.5, 5.5])
_ANSWERS = np.array([0.15, 0.3, 0.5, 0.8, 1.2])

# Where each kind of input begins; the last is how many there are. The network of discards sees the first three kinds,
# that of the play all but the first.
(_SHORT_OF_BEST, _DEALER, _HELD, _SEEN, _LAID, _COUNT, _LAST, _EARNS, _ANSWER, _THEIRS, N_INPUTS) = np.cumsum(
    [0, 13 * len(_SHORT), 1, 52, 52, 104, COUNT_LIMIT, 39, 13 * len(_POINTS), 13 * len(_ANSWERS), 5]
).tolist()
OF_DISCARDS, OF_THE_PLAY = slice(_SHORT_OF_BEST, _LAID), slice(_DEALER, N_INPUTS)


@kernel
def _steps(value, steps, inputs, row, at):
    """Thermometer coding: 1 for each of the ascending steps that the value reaches."""
    for k in range(len(steps)):
        inputs[row, at + k] = value >= steps[k]


@kernel
def _write_discard(observation, masks, row, inputs, gains, cards, totals):
    """Gains of a discard, and how far the best card of each rank held falls short."""
    n, six = 0, np.int64(0)
    discarded = -1
    for card in range(N_ACTIONS):  # ascending, as the exact values need them
        if observation[row, HAND + card] or observation[row, KNOWN + card]:
            if observation[row, KNOWN + card]:
                discarded = n
            cards[n] = card
            six |= bit(card)
            n += 1
    crib_sign = 1 if observation[row, 0] else -1
    totals[:] = np.iinfo(np.int64).min
    best = totals[0]
    for i in range(6):
        for j in range(i + 1, 6):
            if discarded < 0 or discarded in (i, j):
                kept = six ^ bit(cards[i]) ^ bit(cards[j])
                total = HAND_SCALE * hand_total(kept, six) + crib_sign * crib_total(cards[i], cards[j], cards)
                totals[i], totals[j], best = max(totals[i], total), max(totals[j], total), max(best, total)
    short = np.full(13, np.inf)
    for i in range(6):
        card = cards[i]
        if masks[row, card]:
            gains[row, card] = (totals[i] - best) / COMPLETIONS
            short[card % 13] = min(short[card % 13], -gains[row, card])
    for rank in range(13):
        if short[rank] < np.inf:
            _steps(short[rank], _SHORT, inputs, row, _SHORT_OF_BEST + len(_SHORT) * rank)


@kernel
def _write_play(observation, masks, row, inputs, gains, pile, unseen, n_hand):
    """Gains of a card of the play, and the state of the play."""
    start, n, count = read_pile(observation[row], pile)
    least = COUNT_LIMIT
    for card in range(N_ACTIONS):
        if observation[row, HAND + card]:
            least = min(least, card_value(card % 13))
    if count + least > COUNT_LIMIT:  # nobody can lay a card on this count, and so it is over
        start, count = n, 0
    for k in range(104):
        inputs[row, _LAID + k] = observation[row, SLOTS + k]
    inputs[row, _COUNT + count] = 1
    for k in range(min(3, n - start)):
        inputs[row, _LAST + 13 * k + pile[n - 1 - k]] = 1
    theirs = 8 - n - n_hand
    if theirs < 5:
        inputs[row, _THEIRS + theirs] = 1
    n_unseen = 0
    for rank in range(13):
        n_unseen += unseen[rank]
    for rank in range(13):
        now = count + card_value(rank)
        if now > COUNT_LIMIT:
            continue
        pile[n] = rank
        points = pile_points(pile, start, n + 1, now)
        _steps(points, _POINTS, inputs, row, _EARNS + len(_POINTS) * rank)
        is_legal = False
        for suit in range(4):
            if masks[row, 13 * suit + rank]:
                gains[row, 13 * suit + rank] = points
                is_legal = True
        if is_legal and theirs:
            begin, before = (n + 1, 0) if now == COUNT_LIMIT else (start, now)
            answers = 0
            for answer in range(13):
                after = before + card_value(answer)
                if unseen[answer] and after <= COUNT_LIMIT:
                    pile[n + 1] = answer
                    answers += unseen[answer] * pile_points(pile, begin, n + 2, after)
            _steps(answers / n_unseen, _ANSWERS, inputs, row, _ANSWER + len(_ANSWERS) * rank)


@kernel
def _write(observation, masks, is_discard, inputs, gains):
    pile, unseen = np.empty(10, np.int64), np.empty(13, np.int64)
    cards, totals = np.empty(6, np.int64), np.empty(6, np.int64)
    for row in range(len(observation)):
        inputs[row, _DEALER] = observation[row, 0]
        n_hand = 0
        for rank in range(13):
            held, seen = 0, 0
            for suit in range(4):
                held += observation[row, HAND + 13 * suit + rank]
                seen += observation[row, KNOWN + 13 * suit + rank]
            for k in range(held):
                inputs[row, _HELD + 13 * k + rank] = 1
            for k in range(seen):
                inputs[row, _SEEN + 13 * k + rank] = 1
            unseen[rank] = 4 - held - seen
            n_hand += held
        if is_discard[row]:
            _write_discard(observation, masks, row, inputs, gains, cards, totals)
        else:
            _write_play(observation, masks, row, inputs, gains, pile, unseen, n_hand)


def inputs_and_gains(
    observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (B, ``N_INPUTS``) int8 of zeros and ones, and gains (B, 52) float32, -inf for a card that is not legal.

    Inputs: how far the best card of each rank held falls short of the best discard; dealer; how many cards of each rank
    are held, and how many others known; the eight slots of the play; the count; the last three cards of this count;
    what a card of each rank would earn now, and what the answer of a random unseen card to it would earn on average;
    how many cards the opponent holds.

    Args:
        observation: (B, n) int8, whose first 209 are the 209 bits.
        masks: (B, 52) int8, legal cards.
        is_discard: (B,) bool.
    """
    inputs = np.zeros((len(observation), N_INPUTS), np.int8)
    gains = np.full((len(observation), N_ACTIONS), -np.inf, np.float32)
    _write(observation, masks, is_discard, inputs, gains)
    return inputs, gains
