"""Shared parts of all compiled kernels: the decorator, operations on sets of cards and the random stream.

Sets of cards are ``int64`` bit masks (bit = card id). Integers stay ``int64`` throughout, because Numba turns a mix of
``int64`` and ``uint64`` into floating point; only the random streams are ``uint64``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic, overload

from crib_env.kernel_cache import IntermediateCode, KernelCache, compiler_locks

# nogil: threads may run kernels side by side. Never parallel: a process that has used it cannot fork any more.
_OPTIONS = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
}


class _ToIntermediateCode(Compiler):
    """Numba's compiler up to the code that LLVM has still to optimise."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        self.state.library = IntermediateCode(self.state.targetctx.codegen(), func.__qualname__)
        self.state.flags.no_compile = True
        return super().compile_extra(func)


class Kernel(CPUDispatcher):
    """A function that is compiled at its first call for types of arguments, and kept (:mod:`crib_env.kernel_cache`).

    Most kernels are only called by others. Machine code is made when Python calls one: of that kernel with all that it
    calls, so that LLVM optimises them together and once.
    """

    _insert: Any  # Numba's, in C: what Python calls for types of arguments

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._cache = KernelCache(self.py_func)
        self._entries: dict[Any, Any] = {}
        self._environments: list[Any] = []  # machine code knows them by their addresses

    def compile(self, sig: Any) -> Any:
        """Compiles or loads the kernel, unless that is done; other processes that need it wait. Gives the entry."""
        # Numba would compile a kernel again for each constant that a caller passes.
        args = tuple(map(types.unliteral, normalize_signature(sig)[0]))
        with compiler_locks.at_work() as is_for_python:
            if args not in self.overloads:
                super().compile(args)
            if is_for_python and args not in self._entries:
                self._entries[args] = self._entry(args)
                self._insert([arg._code for arg in args], self._entries[args])
            return self._entries.get(args)

    def add_overload(self, cres: Any) -> None:
        """Numba's hook. By itself it would let Python call what has no entry."""
        key = object()  # by which callers find the code
        self.targetctx.insert_user_function(key, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres._replace(entry_point=key)

    def _entry(self, args: Any) -> Any:
        result: Any = self.overloads[args]
        context = self.targetctx.subtarget(enable_nrt=True)  # arrays that are returned are counted
        code = self._cache.load_entry(args, result, context.codegen())
        if code is None:
            library = context.codegen().create_library(self.py_func.__name__)
            library.enable_object_caching()
            context.create_cpython_wrapper(library, result.fndesc, result.environment, None, release_gil=True)
            library.add_linking_library(result.library)
            library.finalize()
            environments = result._replace(library=library)._find_referenced_environments()
            self._cache.save_entry(args, result, library, environments)
        else:
            # the library knows its constants by their places in this list
            library, result.environment.consts[:], environments = code
        for environment in environments:
            library.codegen.set_env(environment.env_name, environment)
        self._environments += environments
        return context.get_executable(library, result.fndesc, result.environment)


def kernel(function: Callable[..., Any]) -> Any:
    """Compiles a function; with ``NUMBA_DISABLE_JIT=1`` it remains plain Python."""
    return (
        function
        if getattr(config, "DISABLE_JIT", False)
        else Kernel(function, targetoptions=_OPTIONS, pipeline_class=_ToIntermediateCode)
    )


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
