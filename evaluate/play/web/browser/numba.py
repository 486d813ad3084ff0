"""In the place of Numba in the browser: kernels were compiled into a shared library.

See :mod:`crib_env.evaluate.play.web.kernel_library`. A kernel that is not in the library for the types of its arguments
is an error: whole numbers are not 64 bits wide in plain Python. NumPy's have 32 bits here unless a type is given:
arrays of them are converted for a kernel, and back.
"""

from __future__ import annotations

import ctypes
import json
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import update_wrapper
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

_FOLDER = Path(__file__).parent
_KNOWN = json.loads((_FOLDER / "kernels.json").read_text())
_LIBRARY = ctypes.CDLL(str(_FOLDER / "kernels.so"))


class _Kind:
    """The type of an argument, that is no tuple: ``int64``, ``int8[2]`` for an array of two axes, ``record152``."""

    def __init__(self, described: str) -> None:
        self.item, _, axes = described.rstrip("]").partition("[")
        self.is_record, self.is_array = self.item.startswith("record"), bool(axes)
        self._axes = int(axes or 0)
        self._size = int(self.item.removeprefix("record")) if self.is_record else 0
        code = "d" if self.item.startswith("float") else "Q" if self.item == "uint64" else "q"
        self.code = "q" * (1 + self._axes) if self.is_array or self.is_record else "" if self.item == "none" else code

    def fits(self, value: Any) -> bool:
        """Whether an argument is of this type, or can be made so."""
        if not self.is_array and not self.is_record:
            return isinstance(value, (int, float, np.number, np.bool_)) and (
                self.code == "d" or not isinstance(value, (float, np.floating))
            )
        if not isinstance(value, (np.ndarray, np.void)) or value.ndim != self._axes:
            return False
        if self.is_record:
            return value.dtype.itemsize == self._size
        return bool(value.dtype == self.item) or (value.dtype.name, self.item) == ("int32", "int64")


class _Entry:
    """A kernel for certain types of arguments."""

    def __init__(self, name: str, arguments: Sequence[str], results: Sequence[str], returns: Any) -> None:
        self._kinds, self._returns = [*map(_Kind, arguments)], returns
        self._given = struct.Struct("<" + "".join(kind.code for kind in self._kinds))
        self._found = struct.Struct("<" + "".join(_Kind(result).code for result in results))
        self._block = ctypes.create_string_buffer(self._given.size + self._found.size)
        self._name, self._function = name, getattr(_LIBRARY, name)

    def fits(self, values: Sequence[Any]) -> bool:
        """Whether arguments are of its types."""
        return len(values) == len(self._kinds) and all(kind.fits(one) for kind, one in zip(self._kinds, values))

    def __call__(self, values: Sequence[Any]) -> Any:
        """Calls it."""
        numbers, made = list[Any](), list[tuple[Any, Any]]()
        for kind, value in zip(self._kinds, values):
            if kind.is_array:
                array = np.asarray(value, None if kind.is_record else kind.item, order="C")
                made += [(value, array)]
                numbers += (array.ctypes.data, *array.shape)
            elif kind.is_record:
                numbers.append(np.asarray(value).ctypes.data)
            else:
                numbers.append(value.item() if isinstance(value, np.generic) else value)
        self._given.pack_into(self._block, 0, *numbers)
        if self._function(self._block):
            raise ValueError(f"{self._name} has failed")
        for value, array in made:
            if array is not value and value.flags.writeable:
                value[...] = array
        return _built(self._returns, iter(self._found.unpack_from(self._block, self._given.size)))


def _parts(value: Any) -> Iterator[Any]:
    """What is in tuples of tuples."""
    if not isinstance(value, tuple):
        yield value
        return
    for part in value:
        yield from _parts(part)


def _built(kind: Any, numbers: Iterator[Any]) -> Any:
    """A result out of its numbers and addresses."""
    if isinstance(kind, list):
        parts, (module, _, name) = [_built(part, numbers) for part in kind[1:]], kind[0].partition(":")
        return getattr(sys.modules[f"crib_env.{module}"], name)(*parts) if name else tuple(parts)
    if kind == "none":
        return None
    item, _, axes = kind.rstrip("]").partition("[")
    if axes:
        address, shape = next(numbers), tuple(next(numbers) for _ in range(int(axes)))
        content = ctypes.c_char * (int(np.prod(shape)) * np.dtype(item).itemsize)
        return np.ndarray(shape, item, content.from_address(address))  # it is never freed
    return bool(next(numbers)) if kind == "bool" else next(numbers)


class Kernel:
    """A function out of the library."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func, self._name = function, f"{function.__module__}:{function.__qualname__}"
        self._entries = [_Entry(**one) for one in _KNOWN.get(self._name, ())]
        self._by_types: dict[object, _Entry] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Calls it."""
        values = [*_parts(arguments)]
        types = tuple([(type(one), getattr(one, "dtype", None), getattr(one, "ndim", 0)) for one in values])
        if types not in self._by_types:
            if (entry := next((one for one in self._entries if one.fits(values)), None)) is None:
                told = ", ".join(f"{kind.__name__} {dtype or ''} {ndim}" for kind, dtype, ndim in types)
                raise TypeError(f"{self._name} was not compiled for ({told})")
            self._by_types[types] = entry
        return self._by_types[types](values)


def njit(**_options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """What the decorator of kernels calls."""
    return Kernel


config = SimpleNamespace(DISABLE_JIT=1)  # no kernel is kept
errors = types = None
_same = SimpleNamespace(intrinsic=lambda function=None, **_: function or (lambda one: one))
_same.register_jitable = lambda function: function
_same.overload = lambda _plain, **_: lambda function: function  # the library has the instructions
sys.modules["numba.extending"], sys.modules["llvmlite"] = _same, SimpleNamespace(ir=None)  # type: ignore[assignment]
