"""All 20,358,520 deals of six cards as 962,988 classes up to a permutation of suits.

The representative of a class has its suits in descending order of their rank masks, read as 13-bit numbers. Classes are
numbered by the order of their representatives' masks.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from crib_env.kernels import kernel, list_cards
from crib_env.scoring import SUIT

N_CLASSES = 962_988
N_DEALS = 20_358_520


@kernel
def suits_in_order(six):
    """Whether the suits of a mask are in descending order."""
    return (
        six & SUIT >= (six >> 13) & SUIT
        and (six >> 13) & SUIT >= (six >> 26) & SUIT
        and (six >> 26) & SUIT >= (six >> 39) & SUIT
    )


@kernel
def with_suits_in_order(six, suits):
    """The same cards with their suits in descending order of their masks of ranks; fills ``suits`` (4,) int64 with the
    new names."""
    renamed = np.int64(0)
    for old in range(4):
        ranks, new = (six >> 13 * old) & SUIT, 0
        for other in range(4):
            others = (six >> 13 * other) & SUIT
            new += others > ranks or (others == ranks and other < old)
        suits[old] = new
        renamed |= ranks << 13 * new
    return renamed


@kernel
def _fill_representatives(out):
    """Fills ``out`` with the masks of all representatives, lowest first; returns their number."""
    n = 0
    for f in range(5, 52):
        for e in range(4, f):
            for d in range(3, e):
                for c in range(2, d):
                    top = (np.int64(1) << f) | (np.int64(1) << e) | (np.int64(1) << d) | (np.int64(1) << c)
                    for b in range(1, c):
                        for a in range(b):
                            six = top | (np.int64(1) << b) | (np.int64(1) << a)
                            if suits_in_order(six):
                                out[n] = six
                                n += 1
    return n


@cache
def representatives() -> np.ndarray:
    """(962988,) int64 masks, ascending; the index of a mask is the number of its class. Takes a fraction of a
    second."""
    out = np.empty(N_CLASSES, np.int64)
    if _fill_representatives(out) != N_CLASSES:
        raise AssertionError("the classes of deals do not add up")
    return out


@kernel
def _fill_cards(masks, out):
    for n in range(len(masks)):
        list_cards(masks[n], out[n])


def cards_of(classes: np.ndarray) -> np.ndarray:
    """The representatives of classes (N,) as sorted ids, (N, 6) int64."""
    out = np.empty((len(classes), 6), np.int64)
    _fill_cards(representatives()[classes], out)
    return out


def class_of(cards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes (N,) of hands (N, 6) of ids, and the same cards in the representatives.

    The second array (N, 6) holds the representative's id for each card of the hand, in the same order.
    """
    ranks, suits = cards % 13, cards // 13
    patterns = np.stack([np.where(suits == s, 1 << ranks, 0).sum(axis=1) for s in range(4)], axis=1)
    order = np.argsort(-patterns, axis=1, kind="stable")  # new to old suit
    new_suit = np.argsort(order, axis=1)  # old to new
    renamed = 13 * np.take_along_axis(new_suit, suits, axis=1) + ranks
    masks = (np.int64(1) << renamed).sum(axis=1)
    return np.searchsorted(representatives(), masks), renamed


@kernel
def n_renamings(cards):
    """How many different sets of cards result from renaming the suits of these, whose suits are in order."""
    ways, alike = 24, 1
    for suit in range(1, 4):
        same = (cards >> (13 * suit)) & SUIT == (cards >> (13 * suit - 13)) & SUIT
        alike = alike + 1 if same else 1
        ways //= alike
    return ways


@kernel
def _fill_sizes(masks, out):
    for n in range(len(masks)):
        out[n] = n_renamings(masks[n])


def class_sizes() -> np.ndarray:
    """How many deals each class stands for, (962988,) int64: 24, or fewer if suits hold the same ranks."""
    sizes = np.empty(N_CLASSES, np.int64)
    _fill_sizes(representatives(), sizes)
    return sizes
