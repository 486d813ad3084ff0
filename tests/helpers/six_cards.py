"""Hands of six cards, of kinds that random hands seldom are."""

from __future__ import annotations

import numpy as np


def six_cards(kind, rng):
    """Six cards, lowest first, of a kind that random hands seldom are."""
    deck = np.arange(52)
    if kind == "suited":
        deck = deck[deck // 13 == rng.integers(4)]
    elif kind == "two suits":
        deck = deck[np.isin(deck // 13, rng.choice(4, 2, replace=False))]
    elif kind == "paired":
        deck = deck[np.isin(deck % 13, rng.choice(13, 2, replace=False))]
    elif kind == "jacks":
        deck = np.concatenate([[10, 23, 36, 49], rng.choice(deck[deck % 13 != 10], 4, replace=False)])
    elif kind == "fives and tens":
        deck = deck[(deck % 13 == 4) | (deck % 13 >= 9)]
    return sorted(rng.choice(deck, 6, replace=False).tolist())


KINDS = ("random", "suited", "two suits", "paired", "jacks", "fives and tens")
