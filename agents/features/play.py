"""What follows from the 209 bits, so that a network need not learn it: the state of the play, and the inputs by rank.

The inputs by rank (:mod:`crib_env.ranks`) come with what each card is known to gain. A network that adds its values to
the gains only has to learn what comes after.
"""

from __future__ import annotations

import numpy as np

from crib_env.kernels import bit, kernel
from crib_env.observation import HAND, KNOWN, N_ACTIONS, SLOTS
from crib_env.ranks import IS_DEALER, LAID, N_INPUTS, SHORT, Play, write_cards, write_discard, write_pile, write_play
from crib_env.scoring import COUNT_LIMIT, card_value, fill_next_points

# Where each kind of feature begins; the last is how many there are.
_COUNT, _LAST, _POINTS, _THEIRS, N_PLAY_FEATURES = np.cumsum([0, COUNT_LIMIT, 39, 13, 5]).tolist()
# The network of discards sees the first of the inputs by rank, that of the play the others.
OF_DISCARDS, OF_THE_PLAY = slice(SHORT, LAID), slice(IS_DEALER, N_INPUTS)


@kernel
def read_pile(seen, pile):
    """Reads the ranks of all cards laid in an observation into ``pile``.

    Returns:
        Where the last count starts in it, how many cards there are, and the count; 31 and a go do not end it here.
    """
    n, start, count = 0, 0, 0
    while n < 8:
        rank = 0
        while rank < 13 and not seen[SLOTS + 13 * n + rank]:
            rank += 1
        if rank == 13:
            break
        count += card_value(rank)
        if count > COUNT_LIMIT:  # this card begins a new count, because it did not fit the one before
            start, count = n, card_value(rank)
        pile[n] = rank
        n += 1
    return start, n, count


@kernel
def _read_play(seen, pile):
    """The same at a decision, and how many cards are held. A count has ended where no card held fits it, because a
    player who can lay a card never says go."""
    n_hand, least = 0, COUNT_LIMIT
    for card in range(N_ACTIONS):
        if seen[HAND + card]:
            n_hand += 1
            least = min(least, card_value(card % 13))
    start, n, count = read_pile(seen, pile)
    if count + least > COUNT_LIMIT:
        start, count = n, 0
    return start, n, count, n_hand


@kernel
def write_points(pile, start, n, count, inputs, row, at):
    """Writes what a next card of each rank would earn, 13 numbers."""
    points = np.empty(13, np.int64)
    fill_next_points(pile, start, n, count, points)
    for rank in range(13):
        inputs[row, at + rank] = max(points[rank], 0)


@kernel
def _write_play_features(observation, out):
    pile = np.empty(9, np.int64)
    for b in range(len(observation)):
        start, n, count, n_hand = _read_play(observation[b], pile)
        write_pile(pile, start, n, count, out, b, _COUNT, _LAST)
        write_points(pile, start, n, count, out, b, _POINTS)
        theirs = 8 - n - n_hand
        if n_hand < 5 and theirs < 5:  # else it is not a decision of the play
            out[b, _THEIRS + theirs] = 1


def play_features(observation: np.ndarray) -> np.ndarray:
    """Features (B, 88) float32 of the play, for observations (B, n) int8, whose first 209 are the 209 bits.

    The count, one of 0 … 30; the last three cards of this count, the latest first; what a card of each rank would earn
    now; how many cards the opponent holds, one of 0 … 4. A count has ended where the next card, or every legal card,
    would take it past 31.
    """
    out = np.zeros((len(observation), N_PLAY_FEATURES), np.float32)
    _write_play_features(observation, out)
    return out


@kernel
def _write_ranks(observation, masks, is_discard, inputs, gains):
    pile, unseen, gain = np.empty(10, np.int64), np.empty(13, np.int64), np.empty(N_ACTIONS, np.float32)
    for row in range(len(observation)):
        hand, known, legal = np.int64(0), np.int64(0), np.int64(0)
        for card in range(N_ACTIONS):
            if observation[row, HAND + card]:
                hand |= bit(card)
            elif observation[row, KNOWN + card]:
                known |= bit(card)
            if masks[row, card]:
                legal |= bit(card)
        inputs[row, IS_DEALER] = observation[row, 0]
        write_cards(hand, known, unseen, inputs, row)
        if is_discard[row]:
            write_discard(hand, known, observation[row, 0], legal, inputs, row, gain)
        else:
            start, n, count, n_hand = _read_play(observation[row], pile)
            write_play(Play(pile, start, n, count, 8 - n - n_hand, unseen), legal, inputs, row, gain)
        for card in range(N_ACTIONS):
            if (legal >> card) & 1:
                gains[row, card] = gain[card]


def inputs_and_gains(
    observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs by rank (B, ``N_INPUTS``) int8, and gains (B, 52) float32, -inf for a card that is not legal.

    Args:
        observation: (B, n) int8, whose first 209 are the 209 bits.
        masks: (B, 52) int8, legal cards.
        is_discard: (B,) bool.
    """
    inputs = np.zeros((len(observation), N_INPUTS), np.int8)
    gains = np.full((len(observation), N_ACTIONS), -np.inf, np.float32)
    _write_ranks(observation, masks, is_discard, inputs, gains)
    return inputs, gains
