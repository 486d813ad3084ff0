"""The native opponents: kernels that choose a card from what one player may know.

They serve twice: inside the engine as opponents (:func:`native_card`), and over batches of views as agents.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine import DISCARD, legal_cards
from crib_env.exact.discard_means import best_discard
from crib_env.kernels import GOLDEN, below, kernel, lowest, mix, popcount
from crib_env.scoring import pile_points

NATIVE = ("random", "greedy")
RANDOM, GREEDY = range(2)


@kernel
def random_card(legal, word):
    """Any of the legal cards (a mask), by a random word."""
    for _ in range(below(word, popcount(legal))):
        legal &= legal - 1
    return lowest(legal)


@kernel
def greedy_discard(hand, thrown, is_dealer):
    """The next card of the best pair by exact means, for the hand still held and the mask already thrown."""
    return lowest(best_discard(hand | thrown, thrown, is_dealer) & hand)


@kernel
def greedy_play(legal, laid, pile_start, n_laid, count):
    """The legal card with the most points at once; ties go to the highest value, then to the lowest id."""
    best, best_points, best_value = np.int64(-1), np.int64(-1), np.int64(0)
    pile = np.empty(8, np.int64)
    for k in range(n_laid):
        pile[k] = laid[k]
    while legal:
        card = lowest(legal)
        legal &= legal - 1
        value = min(card % 13 + 1, 10)
        pile[n_laid] = card
        points = pile_points(pile, pile_start, n_laid + 1, count + value)
        if points > best_points or (points == best_points and value > best_value):
            best, best_points, best_value = card, points, value
    return best


@kernel
def native_card(g, policy):
    """The card that a native policy throws or lays for the seat to act. It reads nothing that seat cannot see."""
    if policy == RANDOM:
        g["luck"] += GOLDEN
        return random_card(legal_cards(g), mix(g["luck"]))
    seat = g["turn"]
    if g["phase"] == DISCARD:
        return greedy_discard(g["hand"][seat], g["discards"][seat], seat == g["dealer"])
    return greedy_play(legal_cards(g), g["laid"], g["pile_start"], np.int64(g["n_laid"]), np.int64(g["count"]))


@kernel
def choose(games, policy):
    """:func:`native_card` for the first game of an array, to be called from Python."""
    return native_card(games[0], policy)
