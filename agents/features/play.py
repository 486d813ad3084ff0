"""Features of the state of the play. They follow from the 209 bits, so a network need not learn them."""

from __future__ import annotations

import numpy as np

from crib_env.kernels import kernel
from crib_env.observation import HAND, SLOTS
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points

# Where each kind of feature begins; the last is how many there are.
_COUNT, _LAST, _POINTS, _THEIRS, N_PLAY_FEATURES = np.cumsum([0, COUNT_LIMIT, 39, 13, 5]).tolist()


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
def write_pile(pile, start, n, count, row):
    """Writes the first 83 features of :func:`play_features` into a row of zeros; place ``n`` of ``pile`` is used."""
    row[_COUNT + count] = 1
    for k in range(min(3, n - start)):
        row[_LAST + 13 * k + pile[n - 1 - k]] = 1
    for rank in range(13):
        after = count + card_value(rank)
        if after <= COUNT_LIMIT:
            pile[n] = rank
            row[_POINTS + rank] = pile_points(pile, start, n + 1, after)


@kernel
def _write_play_features(observation, out):
    pile = np.empty(9, np.int64)
    for b in range(len(observation)):
        seen, row = observation[b], out[b]
        n_hand, least = 0, COUNT_LIMIT
        for card in range(52):
            if seen[HAND + card]:
                n_hand += 1
                least = min(least, card_value(card % 13))
        start, n, count = read_pile(seen, pile)
        if count + least > COUNT_LIMIT:  # the player who is to act cannot lay either, so the count is over
            start, count = n, 0
        write_pile(pile, start, n, count, row)
        theirs = 8 - n - n_hand
        if n_hand < 5 and theirs < 5:  # else it is not a decision of the play
            row[_THEIRS + theirs] = 1


def play_features(observation: np.ndarray) -> np.ndarray:
    """Features (B, 88) float32 of the play, for observations (B, n) int8, whose first 209 are the 209 bits.

    The count, one of 0 … 30; the last three cards of this count, the latest first; what a card of each rank would earn
    now; how many cards the opponent holds, one of 0 … 4. A count has ended where the next card, or
    every legal card, would take it past 31, because a player who can lay a card never says go.
    """
    out = np.zeros((len(observation), N_PLAY_FEATURES), np.float32)
    _write_play_features(observation, out)
    return out
