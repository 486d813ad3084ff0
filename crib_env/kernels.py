"""What every compiled kernel shares: the decorator, operations on sets of cards and the random stream.

Sets of cards are ``int64`` bit masks (bit = card id). Integers stay ``int64`` throughout, because Numba turns a mix of
``int64`` and ``uint64`` into floating point; only the random streams are ``uint64``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload


@cache
def _stamp(package: str) -> tuple[tuple[str, float, int], ...]:
    """What the source files of a top-level package look like now."""
    folder = Path(__file__).parents[1] / package
    files = sorted(folder.rglob("*.py"))
    return tuple((str(file), file.stat().st_mtime, file.stat().st_size) for file in files)


def kernel(function: Callable[..., Any]) -> Any:
    """Compiles a function, and keeps the machine code on disk until any source file that it may stand on changes.

    Numba itself looks at the file of the function alone, so that after an update a kernel could still hold the rules of
    the old version, copied into it from another file. Here the stamp covers this package and the function's own.
    """
    # nogil: threads may run kernels side by side. Never parallel=True: a process that has used it cannot fork any more.
    compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    if hasattr(compiled, "_cache"):  # not with NUMBA_DISABLE_JIT=1
        file = compiled._cache._cache_file
        file._source_stamp = (file._source_stamp, _stamp("crib_env"), _stamp(function.__module__.partition(".")[0]))
    return compiled


def popcount(mask: int) -> int:
    """How many cards a mask holds."""
    return int(mask).bit_count()


def lowest(mask: int) -> int:
    """The lowest card id in a mask that is not empty."""
    return (int(mask) & -int(mask)).bit_length() - 1


@intrinsic
def _ctpop(_context: Any, mask: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@intrinsic
def _cttz(_context: Any, mask: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@overload(popcount)
def _popcount_compiled(mask):  # unannotated: Numba compares this signature with the inner one
    return lambda mask: _ctpop(np.int64(mask))


@overload(lowest)
def _lowest_compiled(mask):
    return lambda mask: _cttz(np.int64(mask))


@kernel
def bit(card):
    """The mask of one card."""
    return np.int64(1) << np.int64(card)


@kernel
def mask_of(cards):
    """The mask of an array of cards, in which -1 is no card."""
    mask = np.int64(0)
    for card in cards:
        if card >= 0:
            mask |= bit(card)
    return mask


GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@kernel
def mix(x):
    """A 64-bit finaliser: every bit of ``x`` moves every bit of the answer (SplitMix64, Steele et al. 2014)."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@kernel
def below(word, n):
    """A random word scaled to 0 … n - 1 by its upper half. The bias is below n / 2**32."""
    return np.int64(((word >> _S32) * np.uint64(n)) >> _S32)


def streams(seed: int | None, n: int) -> np.ndarray:
    """``n`` starting points of random streams, (n,) uint64, from NumPy's ``SeedSequence``; ``None`` is fresh."""
    return np.random.SeedSequence(seed).generate_state(n, np.uint64)
