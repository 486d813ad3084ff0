"""Random numbers of agents, determined by seed, game and decision, so that a game is the same in every batch."""

from __future__ import annotations

import numpy as np

from crib_env import PlayerViews
from crib_env.kernels import GOLDEN, kernel, mix


@kernel
def uniform(seed, game_id, decision):
    """A random number from 0 to 1; ``seed`` is a uint64 of :func:`crib_env.kernels.streams`."""
    word = mix(seed + mix(np.uint64(game_id) + GOLDEN * np.uint64(decision + 1)))
    return np.float64(word >> np.uint64(11)) / 2.0**53


@kernel
def _uniforms(seed, game_ids, decisions, out):
    for b in range(len(out)):
        out[b] = uniform(seed, game_ids[b], decisions[b])


def uniforms(seed: np.uint64, views: PlayerViews) -> np.ndarray:
    """Random numbers from 0 to 1 for these decisions, (B,) float64, see :func:`uniform`."""
    out = np.empty(len(views))
    _uniforms(seed, views.game_ids, views.decisions, out)
    return out


@kernel
def _draw(chances, numbers, cards):
    for b in range(len(cards)):
        at = numbers[b] * chances[b].sum()
        for card in range(chances.shape[1]):
            if chances[b, card] > 0.0:
                cards[b] = card  # if rounding leaves a remainder, the last possible card stays
                at -= chances[b, card]
                if at < 0.0:
                    break


def draw(chances: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Cards, or ranks, by their probability.

    Args:
        chances: (B, n) float64, 0 for a card that is not legal.
        numbers: (B,) from 0 to 1, which decide.

    Returns:
        (B,) int64 from 0 to n - 1.
    """
    cards = np.empty(len(chances), np.int64)
    _draw(chances, numbers, cards)
    return cards
