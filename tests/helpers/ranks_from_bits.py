"""The inputs by rank once more: from the 209 bits, which do not say where the count began."""

from __future__ import annotations

import numpy as np

from crib_env.agents.networks.seen import Seen
from crib_env.agents.networks.td import read_pile
from crib_env.kernels import bit, kernel
from crib_env.observation import HAND, KNOWN, N_ACTIONS
from crib_env.ranks import IS_DEALER, N_INPUTS, Play, write_cards, write_discard, write_play
from crib_env.scoring import COUNT_LIMIT, card_value


@kernel
def _read_play(seen, pile):
    """As ``read_pile`` at a decision, and how many cards are held. A count has ended where no card held fits it."""
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


def seen_in(observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray) -> Seen:
    """Decisions by rank, from the 209 bits.

    Args:
        observation: (B, 209) int8.
        masks: (B, 52) int8, legal cards.
        is_discard: (B,) bool.
    """
    inputs, gains = (
        np.zeros((len(observation), N_INPUTS), np.int8),
        np.full((len(observation), 52), -np.inf, np.float32),
    )
    _write_ranks(observation, masks, is_discard, inputs, gains)
    return Seen(inputs, gains)
