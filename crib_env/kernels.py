"""Shared parts of all compiled kernels: the decorator, operations on sets of cards, and the random stream.

Sets of cards are ``int64`` bit masks (bit = card id). Integers stay ``int64`` throughout, because Numba turns a mix of
``int64`` and ``uint64`` into floating point; only the random streams are ``uint64``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import errors, types
from numba.extending import intrinsic, overload

from crib_env.kernel_cache import KernelCache

# nogil: threads may run kernels side by side. Never parallel: a process that has used it cannot fork any more.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
KERNELS: list[Any] = []
"""All kernels, in the order in which modules define them."""
_CONFIG: Any = numba.config
_CACHE = None if _CONFIG.DISABLE_JIT else KernelCache()


def kernel(function: Callable[..., Any]) -> Any:
    """Compiles a function when it is first called with arguments of these types, and keeps it for other processes.

    With ``NUMBA_DISABLE_JIT=1`` it remains plain Python.
    """
    compiled = numba.njit(**_OPTIONS)
    KERNELS.append(_CACHE.kept(function, compiled) if _CACHE else compiled(function))
    return KERNELS[-1]


@cache
def variant(template: Any, name: str, other: Any) -> Any:
    """A kernel like ``template`` that calls the kernel ``other`` in the place of the one that it knows as ``name``.

    Numba cannot keep a kernel that is given a kernel. So this is kept under a name that says what it calls, and by
    which source.
    """
    function, called = (getattr(one, "py_func", one) for one in (template, other))
    if function.__globals__[name] is other:
        return template
    source = sha256(Path(called.__code__.co_filename).read_bytes()).hexdigest()[:8]
    copy = FunctionType(function.__code__, {**function.__globals__, name: other})
    # A file is named after it, and no name may have more than 255 bytes.
    copy.__qualname__ = f"{function.__qualname__}_by_{called.__qualname__}_{source}"
    return kernel(copy)


def popcount(mask: int) -> int:
    """How many cards a mask holds."""
    return int(mask).bit_count()


def lowest(mask: int) -> int:
    """The lowest card id in a mask that is not empty."""
    return (int(mask) & -int(mask)).bit_length() - 1


# In kernels each is one instruction. Numba names the functions below by their place in the source: one function that
# made both would give code of two processes the same name for different instructions.
@intrinsic
def _count(_context: Any, mask: Any) -> Any:
    return types.int64(types.int64), lambda _context, builder, _signature, args: builder.ctpop(args[0])


@intrinsic
def _first(_context: Any, mask: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))  # never zero

    return types.int64(types.int64), generate


@overload(popcount)
def _popcount(mask):
    _tell()
    return lambda mask: _count(np.int64(mask))


@overload(lowest)
def _lowest(mask):
    _tell()
    return lambda mask: _first(np.int64(mask))


def _tell() -> None:
    if _CACHE:  # Numba asks for an overload only when it compiles a kernel that calls it, and nearly all do
        _CACHE.tell()


def scratch(n: int, dtype: Any) -> np.ndarray:
    """An array (n,) for work inside one kernel, which must not return it.

    In kernels ``n`` is a constant and the array lies on the stack: nothing is allocated or counted.
    """
    return np.empty(n, dtype)


@overload(scratch, inline="always")  # so that the memory is of the kernel that asks
def _scratch(n, dtype):
    return lambda n, dtype: numba.carray(_stack(n, dtype), n)


@intrinsic(prefer_literal=True)
def _stack(_context: Any, n: Any, dtype: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        item = context.get_data_type(dtype.dtype)
        with builder.goto_entry_block():  # once: not again in each round of a loop
            place = builder.alloca(ir.ArrayType(item, n.literal_value))
        return builder.bitcast(place, item.as_pointer())

    if isinstance(n, types.IntegerLiteral):
        return types.CPointer(dtype.dtype)(n, dtype), generate
    raise errors.RequireLiteralValue("the size of a scratch array is not a constant")


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
    list_cards(mask, cards)
    return cards


@kernel
def list_cards(mask, cards):
    """Fills ``cards`` (n,) with the ids of a mask of n cards, ascending."""
    for k in range(len(cards)):
        cards[k] = lowest(mask)
        mask &= mask - 1


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
