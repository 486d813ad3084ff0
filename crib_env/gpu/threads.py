"""CUDA kernels with one thread a game. This is the only file that imports numba-cuda.

numba-cuda makes a device function of every kernel of this project that it meets, from the same Python function.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from numba import cuda  # a global: the simulator puts its own in its place
from numba.cuda import config
from numba.cuda.extending import overload

from crib_env.engine import GAME
from crib_env.kernels import scratch

THREADS = 128  # in a block
SIMULATED = bool(config.ENABLE_CUDASIM)
_SHARED = 48 * 1024  # bytes of memory that the threads of a block share, without asking for more
_WARP = 32
_MASK_WORDS = 13  # of 52 bytes
_GAME_WORDS = GAME.itemsize // 8


def _keep_tables_in_global_memory() -> None:
    """numba-cuda puts constant arrays where there are 64 KiB, and where threads that read different entries queue.

    There is no option for it. Tried with the versions of numba-cuda that the extra ``gpu`` allows.
    """
    from numba.cuda import target
    from numba.cuda.cudadrv import nvvm

    make_constant_array = target.CUDATargetContext.make_constant_array

    def in_global_memory(self: Any, *args: Any) -> Any:
        before, nvvm.ADDRSPACE_CONSTANT = nvvm.ADDRSPACE_CONSTANT, nvvm.ADDRSPACE_GLOBAL
        try:
            return make_constant_array(self, *args)
        finally:
            nvvm.ADDRSPACE_CONSTANT = before

    target.CUDATargetContext.make_constant_array = in_global_memory


if not SIMULATED:
    _keep_tables_in_global_memory()

    @overload(scratch, inline="always", prefer_literal=True)
    def _scratch(n, dtype):
        size = getattr(n, "literal_value", None)
        return None if size is None else lambda n, dtype: cuda.local.array(size, dtype)


def launch(kernel: Any, n: int, threads: int, *args: Any) -> None:
    """Sends a kernel for ``n`` rows to the GPU, so many threads to a block, after what torch has sent to its stream."""
    torchs = 0 if SIMULATED else torch.cuda.current_stream().cuda_stream
    kernel[-(-n // threads), threads, cuda.external_stream(torchs) if torchs else 0](*args)


def _named(kernel: Any, run: Any) -> Any:
    """A CUDA kernel of a function, named after the kernel that it calls."""
    run.__qualname__ = getattr(kernel, "py_func", kernel).__qualname__
    return cuda.jit(run)


@cache
def each_row(kernel: Any) -> Any:
    """The CUDA kernel ``(n, state, rest)`` that calls ``kernel(state, (i,), *rest)`` in thread i."""

    def run(n, state, rest):
        i = cuda.grid(1)
        if i < n:
            kernel(state, (i,), *rest)

    return _named(kernel, run)


@cache
def in_own_memory(kernel: Any) -> Any:
    """The CUDA kernel ``(words, rest)`` that calls ``kernel(games, (0,), *rest)`` with a copy of one game.

    ``words`` are the games, (n, words of a record) int64. Random play is twice as fast as in the memory that all
    threads share.
    """

    def run(words, rest):
        i = cuda.grid(1)
        if i < len(words):
            own = cuda.local.array(_GAME_WORDS, np.int64)
            for k in range(_GAME_WORDS):
                own[k] = words[i, k]
            kernel(own.view(GAME), (0,), *rest)
            for k in range(_GAME_WORDS):
                words[i, k] = own[k]

    return _named(kernel, run)


@cache
def stepping(step_one: Any, show_one: Any, size: int) -> tuple[Any, int]:
    """The CUDA kernel ``(table, cards, to_begin, rules, out, words, mask_words)`` of a step of all games with an
    observation of this size, and how many threads a block has.

    Observation and mask go through memory that a block shares, and whole warps write rows from there: single bytes
    of each thread's row would take four times as long.
    """
    width = -(-size // 4)  # words of four bytes
    threads = min(THREADS, _SHARED // (4 * (width + _MASK_WORDS)) // _WARP * _WARP)

    def run(table, cards, to_begin, rules, out, words, mask_words):
        t, i, n = cuda.threadIdx.x, cuda.grid(1), len(cards)
        tile = cuda.shared.array((threads, width), np.int32)
        masks = cuda.shared.array((threads, _MASK_WORDS), np.int32)
        if i < n:
            step_one(table, i, cards, to_begin, rules, out)
            show_one(table, i, tile.view(np.int8)[:, :size], masks.view(np.int8), t)
        cuda.syncthreads()  # the simulator has none for a warp
        lane = t & (_WARP - 1)
        for r in range(min(_WARP, n - (i - lane))):
            for c in range(lane, width, _WARP):
                words[i - lane + r, c] = tile[t - lane + r, c]
            if lane < _MASK_WORDS:
                mask_words[i - lane + r, lane] = masks[t - lane + r, lane]

    return _named(step_one, run), threads
