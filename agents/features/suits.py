"""Suits are interchangeable: each position stands for up to 24 that differ only in the names of suits.

With suits relabelled into one canonical order they become one position, which a network learns only once.
"""

from __future__ import annotations

import numpy as np

from crib_env.kernels import kernel
from crib_env.observation import HAND, KNOWN, OPPONENT_LAID, OWN_DISCARDS, STARTER

# Where an observation has 52 bits, one for each card: in the 209 bits, and in the board observation beyond them.
_BLOCKS = np.array([HAND, KNOWN, OWN_DISCARDS, OPPONENT_LAID, STARTER])


@kernel
def _relabel(observation, masks, out, out_masks, order):
    keys = np.empty(4, np.int64)
    for b in range(len(observation)):
        for suit in range(4):
            key = np.int64(0)
            for rank in range(13):  # cards held weigh most, then those known
                key += np.int64(observation[b, HAND + 13 * suit + rank]) << (13 + rank)
                key += np.int64(observation[b, KNOWN + 13 * suit + rank]) << rank
            keys[suit] = key
            order[b, suit] = suit
        for i in range(1, 4):  # insertion sort: the highest key first
            k = i
            while k and keys[order[b, k]] > keys[order[b, k - 1]]:
                order[b, k], order[b, k - 1] = order[b, k - 1], order[b, k]
                k -= 1
        out[b] = observation[b]
        for new in range(4):
            old = order[b, new]
            for block in _BLOCKS:
                if block < observation.shape[1]:
                    for rank in range(13):
                        out[b, block + 13 * new + rank] = observation[b, block + 13 * old + rank]
            for rank in range(13):
                out_masks[b, 13 * new + rank] = masks[b, 13 * old + rank]


def relabel(observation: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations (B, n) and masks (B, 52) with suits in the fixed order, and that order (B, 4): new to old suit."""
    out, out_masks = np.empty_like(observation), np.empty_like(masks)
    order = np.empty((len(observation), 4), np.int64)
    _relabel(observation, masks, out, out_masks, order)
    return out, out_masks, order


def original(cards: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Cards (B,) under relabelled suits back under their own."""
    return 13 * order[np.arange(len(cards)), cards // 13] + cards % 13


def relabelled(cards: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Cards (B,) as they are called under the order."""
    return 13 * (order == (cards // 13)[:, None]).argmax(axis=1) + cards % 13
