"""In the place of Numba in the browser: kernels were compiled into a shared library.

See :mod:`crib_env.evaluate.play.web.kernel_library`. A kernel that is not in the library for the types of its arguments
is an error: whole numbers are not 64 bits wide in plain Python.
"""

from __future__ import annotations

import ctypes
import json
import struct
import sys
from collections.abc import Callable, Iterator
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

_FOLDER = Path("/table")
_KNOWN = json.loads((_FOLDER / "kernels.json").read_text())
_ITEMS = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q"} | {
    **{"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q", "float32": "f", "float64": "d"}
}


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(_FOLDER / "kernels.so"))


class _Mismatch(Exception):
    """An argument is of another type."""


class _Entry:
    """A kernel for certain types of arguments."""

    def __init__(self, name: str, arguments: list[Any], returns: Any) -> None:
        self._arguments, self._returns, self._name = arguments, returns, name
        codes = [code for kind in arguments for code in _codes(kind)]
        self._results = list(_codes(returns))
        self._format, self._n = "<" + "".join(codes), len(codes)
        self._block = bytearray(8 * (len(codes) + len(self._results)) or 8)
        self._address = ctypes.addressof((ctypes.c_char * len(self._block)).from_buffer(self._block))

    @cached_property
    def _function(self) -> Any:
        """Opened when it is first called: the memory that the site was made with has no library in it."""
        function = getattr(_library(), self._name)
        function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_int
        return function

    def __call__(self, arguments: tuple[Any, ...]) -> Any:
        numbers: list[Any] = []
        if len(arguments) != len(self._arguments):
            raise _Mismatch
        for kind, argument in zip(self._arguments, arguments):
            _flatten(kind, argument, numbers)
        struct.pack_into(self._format, self._block, 0, *numbers)
        if self._function(self._address):
            raise ValueError(f"{self._name} has failed")
        found = struct.unpack_from("<" + "".join(self._results), self._block, 8 * self._n)
        return _built(self._returns, iter(found))


def _codes(kind: Any) -> Iterator[str]:
    """The codes, in :mod:`struct`, of the numbers and addresses of a type."""
    if isinstance(kind, list):
        for part in kind[1:]:
            yield from _codes(part)
    elif kind.endswith("]"):
        yield from "q" * (1 + int(kind.split("[")[1][:-1]))
    elif kind != "none":
        yield "d" if kind.startswith("float") else "Q" if kind == "uint64" else "q"


def _flatten(kind: Any, value: Any, numbers: list[Any]) -> None:
    """Adds the numbers and addresses of an argument.

    Raises:
        _Mismatch: it is of another type.
    """
    if isinstance(kind, list):
        if not isinstance(value, tuple) or len(value) != len(kind) - 1:
            raise _Mismatch
        for part, item in zip(kind[1:], value):
            _flatten(part, item, numbers)
    elif kind.endswith("]"):
        if not isinstance(value, np.ndarray):
            raise _Mismatch
        item, _, axes = kind[:-1].partition("[")
        size = int(item.removeprefix("record")) if item.startswith("record") else None
        fits = value.dtype.code == _ITEMS[item] if size is None else value.dtype.itemsize == size
        if not fits or value.ndim != int(axes) or not value.is_contiguous:
            raise _Mismatch
        numbers += (value.address, *value.shape)
    elif kind.startswith("record"):
        numbers.append(value.address)
    elif isinstance(value, (int, float)):
        numbers.append(float(value) if kind.startswith("float") else value)
    elif isinstance(value, np.ndarray) and not value.shape:
        numbers.append(value.item())
    else:
        raise _Mismatch


def _built(kind: Any, numbers: Iterator[Any]) -> Any:
    """A result out of its numbers and addresses."""
    if isinstance(kind, list):
        parts = [_built(part, numbers) for part in kind[1:]]
        return _class(kind[0])(*parts) if kind[0] else tuple(parts)
    if kind == "none":
        return None
    if kind.endswith("]"):
        item, _, axes = kind[:-1].partition("[")
        address, shape = next(numbers), tuple(next(numbers) for _ in range(int(axes)))
        made = np.zeros(shape, item)
        ctypes.memmove(made.address, address, made.nbytes)
        return made
    return bool(next(numbers)) if kind == "bool" else next(numbers)


def _class(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(sys.modules[f"crib_env.{module}"], name)


def _told(value: Any) -> str:
    """The type of an argument, for people."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_told, value))})"
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__


class Kernel:
    """A function out of the library."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        known = _KNOWN.get(f"{function.__module__}:{function.__qualname__}", ())
        self._entries = [_Entry(one["name"], one["arguments"], one["returns"]) for one in known]

    def __call__(self, *arguments: Any) -> Any:
        """Calls it."""
        for entry in self._entries:
            try:
                return entry(arguments)
            except _Mismatch:
                continue
        kinds = ", ".join(_told(argument) for argument in arguments)
        raise TypeError(f"{self.__module__}.{self.__qualname__} was not compiled for ({kinds})")


def njit(**_options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """What the decorator of kernels calls."""
    return Kernel


config = SimpleNamespace(DISABLE_JIT=1)  # no kernel is kept
errors = types = None
_same = SimpleNamespace(intrinsic=lambda function=None, **_: function or (lambda one: one))
_same.register_jitable = lambda function: function
_same.overload = lambda _plain, **_: lambda function: function  # the library has the instructions
sys.modules["numba.extending"], sys.modules["llvmlite"] = _same, SimpleNamespace(ir=None)  # type: ignore[assignment]
