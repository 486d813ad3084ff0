"""Hidden cards as the tree searches draw them."""

from __future__ import annotations

import numpy as np

from crib_env.agents.belief import MOST_HANDS
from crib_env.agents.tree_search import draw_hidden, unseen_cards, weigh_hands
from crib_env.kernels import streams

NO_LIKELIHOOD = np.zeros((0, 1820))


def weighed(root, likely=NO_LIKELIHOOD):
    hands, weights = np.zeros(MOST_HANDS, np.int64), np.zeros(MOST_HANDS)
    n = weigh_hands(root, likely, hands, weights)
    return hands[:n], weights[:n]


def drawn(root, times, likely=NO_LIKELIHOOD):
    hands, weights = weighed(root, likely)
    word, worlds = streams(0, 1)[0], np.repeat(np.array([root]), times)
    for world in worlds:
        word = draw_hidden(world, unseen_cards(root), hands, weights, np.uint64(word))
    return worlds
