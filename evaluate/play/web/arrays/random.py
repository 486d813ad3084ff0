"""Seeds of random streams, as NumPy makes them (O'Neill, Developing a seed_seq Alternative, 2015)."""

from __future__ import annotations

import secrets
from typing import Any

from .dtypes import dtype
from .memory import ndarray

_MASK, _POOL = 0xFFFFFFFF, 4


class Generator:
    """Nothing here draws by it; signatures name it."""


class _Hash:
    """A hash whose constant changes with each word."""

    def __init__(self, constant: int, factor: int) -> None:
        self._constant, self._factor = constant, factor

    def __call__(self, word: int) -> int:
        word ^= self._constant
        self._constant = self._constant * self._factor & _MASK
        word = word * self._constant & _MASK
        return word ^ word >> 16


def _mix(one: int, other: int) -> int:
    mixed = (0xCA01F9DD * one - 0x4973F715 * other) & _MASK
    return mixed ^ mixed >> 16


class SeedSequence:
    def __init__(self, entropy: int | None = None) -> None:
        rest = secrets.randbits(128) if entropy is None else entropy
        words = [rest & _MASK]
        while rest := rest >> 32:
            words.append(rest & _MASK)
        hashed = _Hash(0x43B0D7E5, 0x931E8875)
        self._pool = [hashed(words[k] if k < len(words) else 0) for k in range(_POOL)]
        for source in range(_POOL):
            for k in range(_POOL):
                if k != source:
                    self._pool[k] = _mix(self._pool[k], hashed(self._pool[source]))
        for word in words[_POOL:]:
            for k in range(_POOL):
                self._pool[k] = _mix(self._pool[k], hashed(word))

    def generate_state(self, n: int, kind: Any) -> ndarray:
        """See NumPy, for words of 64 bits."""
        if dtype(kind).name != "uint64":
            raise TypeError(f"words of {kind} are not made here")
        hashed = _Hash(0x8B51F9DD, 0x58F38DED)
        words = [hashed(self._pool[k % _POOL]) for k in range(2 * n)]
        return ndarray.of([low | high << 32 for low, high in zip(words[::2], words[1::2])], (n,), dtype(kind))
