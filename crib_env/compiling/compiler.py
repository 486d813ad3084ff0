"""The decorator of compiled functions, the kernels.

A table in the browser has another module in the place of this one: :mod:`crib_env.evaluate.play.web`.
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
from numba.extending import intrinsic, overload, register_jitable

from crib_env.compiling.kernel_cache import IntermediateCode, KernelCache, compiler_locks

__all__ = ["KERNELS", "Kernel", "instruction", "kernel", "register_jitable"]

KERNELS: list[Kernel] = []
"""All kernels, in the order in which modules define them."""

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
    """A function that is compiled at its first call for types of arguments, and kept.

    Most kernels are only called by others. Machine code is made when Python calls one: of that kernel with all that it
    calls, so that LLVM optimises them together and once.
    """

    entries: dict[Any, Any]
    """What Python has called, by the types of the arguments."""
    _insert: Any  # Numba's, in C: what Python calls for types of arguments

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._cache = KernelCache(self.py_func)
        self.entries = {}
        self._environments: list[Any] = []  # machine code knows them by their addresses

    def compile(self, sig: Any) -> Any:
        """Compiles or loads the kernel, unless that is done; other processes that need it wait. Gives the entry."""
        # Numba would compile a kernel again for each constant that a caller passes.
        args = tuple(map(types.unliteral, normalize_signature(sig)[0]))
        with compiler_locks.at_work() as is_for_python:
            if args not in self.overloads:
                super().compile(args)
            if is_for_python and args not in self.entries:
                self.entries[args] = self._entry(args)
                self._insert([arg._code for arg in args], self.entries[args])
            return self.entries.get(args)

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
    if getattr(config, "DISABLE_JIT", False):
        return function
    KERNELS.append(Kernel(function, targetoptions=_OPTIONS, pipeline_class=_ToIntermediateCode))
    return KERNELS[-1]


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function under a name of its own. Code that two processes have compiled is linked by names, which Numba only
    numbers, in each process anew: another instruction of the same name and number would take the place of this one."""
    function.__qualname__ += f".{name}"
    return function


def instruction(name: str) -> Callable[[Callable[[int], int]], Callable[[int], int]]:
    """In kernels, a function of a set of cards is this instruction of LLVM; elsewhere it is plain Python.

    Args:
        name: a method of llvmlite's builder, ``ctpop`` or ``cttz``.
    """

    @intrinsic
    def compiled(_context: Any, mask: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            never_zero = [ir.Constant(ir.IntType(1), 1)] if name == "cttz" else []
            return getattr(builder, name)(args[0], *never_zero)

        return types.int64(types.int64), generate

    def decorated(function: Callable[[int], int]) -> Callable[[int], int]:
        @overload(function)
        def in_kernels(mask):  # unannotated: Numba compares this signature with the inner one
            return _named(lambda mask: compiled(np.int64(mask)), name)

        return function

    return decorated
