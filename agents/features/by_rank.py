"""The inputs by rank of a Q-network (:mod:`crib_env.ranks`), and what each card is known to gain, from the 209 bits.

A network that adds its values to the gains only has to learn what comes after.
"""

from __future__ import annotations

import numpy as np

from crib_env.agents.features.play import read_pile
from crib_env.kernels import bit, kernel
from crib_env.observation import HAND, KNOWN, N_ACTIONS
from crib_env.ranks import IS_DEALER, LAID, N_INPUTS, SHORT, Play, write_cards, write_discard, write_play
from crib_env.scoring import COUNT_LIMIT, card_value

# The network of discards sees the first of these, that of the play the others.
OF_DISCARDS, OF_THE_PLAY = slice(SHORT, LAID), slice(IS_DEALER, N_INPUTS)


@kernel
def _write(observation, masks, is_discard, inputs, gains):
    pile, unseen, gain = np.empty(10, np.int64), np.empty(13, np.int64), np.empty(N_ACTIONS, np.float32)
    for row in range(len(observation)):
        hand, known, legal = np.int64(0), np.int64(0), np.int64(0)
        n_hand, least = 0, COUNT_LIMIT
        for card in range(N_ACTIONS):
            if observation[row, HAND + card]:
                hand |= bit(card)
                n_hand += 1
                least = min(least, card_value(card % 13))
            elif observation[row, KNOWN + card]:
                known |= bit(card)
            if masks[row, card]:
                legal |= bit(card)
        inputs[row, IS_DEALER] = observation[row, 0]
        write_cards(hand, known, unseen, inputs, row)
        if is_discard[row]:
            write_discard(hand, known, observation[row, 0], legal, inputs, row, gain)
        else:
            start, n, count = read_pile(observation[row], pile)
            if count + least > COUNT_LIMIT:  # nobody can lay a card on this count, and so it is over
                start, count = n, 0
            write_play(Play(pile, start, n, count, 8 - n - n_hand, unseen), legal, inputs, row, gain)
        for card in range(N_ACTIONS):
            if (legal >> card) & 1:
                gains[row, card] = gain[card]


def inputs_and_gains(
    observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (B, ``N_INPUTS``) int8 of zeros and ones, and gains (B, 52) float32, -inf for a card that is not legal.

    Args:
        observation: (B, n) int8, whose first 209 are the 209 bits.
        masks: (B, 52) int8, legal cards.
        is_discard: (B,) bool.
    """
    inputs = np.zeros((len(observation), N_INPUTS), np.int8)
    gains = np.full((len(observation), N_ACTIONS), -np.inf, np.float32)
    _write(observation, masks, is_discard, inputs, gains)
    return inputs, gains
