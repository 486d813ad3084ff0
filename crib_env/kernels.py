"""Shared parts of all compiled kernels: operations on sets of cards and the random stream.

Sets of cards are ``int64`` bit masks (bit = card id). Integers stay ``int64`` throughout, because Numba turns a mix of
``int64`` and ``uint64`` into floating point; only the random streams are ``uint64``.
"""

from __future__ import annotations

import numpy as np

from crib_env.compiling.compiler import instruction, kernel

__all__ = ["GOLDEN", "below", "bit", "cards_in", "kernel", "lowest", "mask_of", "mix", "popcount", "streams"]


@instruction("ctpop")
def popcount(mask: int) -> int:
    """How many cards a mask holds."""
    return int(mask).bit_count()


@instruction("cttz")
def lowest(mask: int) -> int:
    """The lowest card id in a mask that is not empty."""
    return (int(mask) & -int(mask)).bit_length() - 1


@kernel
def bit(card):
    """The mask of one card."""
    return np.int64(1) << np.int64(card)


@kernel
def mask_of(cards):
    """The mask of an array of cards; -1 means no card."""
    mask = np.int64(0)
    for card in cards:
        if card >= 0:
            mask |= bit(card)
    return mask


@kernel
def cards_in(mask, n):
    """The ids (n,) int64 of a mask of n cards, ascending."""
    cards = np.empty(n, np.int64)
    for k in range(n):
        cards[k] = lowest(mask)
        mask &= mask - 1
    return cards


GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@kernel
def mix(x):
    """A 64-bit finaliser: every bit of ``x`` affects every bit of the result (SplitMix64, Steele et al. 2014)."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@kernel
def below(word, n):
    """A random word scaled to 0 … n - 1 by its upper half. The bias is below n / 2**32."""
    return np.int64(((word >> _S32) * np.uint64(n)) >> _S32)


def streams(seed: int | None, n: int) -> np.ndarray:
    """``n`` initial states of random streams, (n,) uint64, from NumPy's ``SeedSequence``; ``None`` gives fresh ones."""
    return np.random.SeedSequence(seed).generate_state(n, np.uint64)
