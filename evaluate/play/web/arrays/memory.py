"""The array: a view of items in memory, with a shape and strides; and which of them an index selects."""

from __future__ import annotations

import operator
import struct
from array import array as memory
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from math import gcd
from types import SimpleNamespace
from typing import Any, NamedTuple

from .dtypes import BOOL, FLOAT64, INT64, dtype, promoted, size_of, with_plain


def strides_of(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides of an array whose items lie one after the other."""
    strides = []
    for n in reversed(shape):
        strides.append(itemsize)
        itemsize *= n
    return tuple(reversed(strides))


def places_of(shape: tuple[int, ...], strides: tuple[int, ...], start: int = 0) -> list[int]:
    """Where the items lie, in bytes from the first, in order."""
    places = [start]
    for n, stride in zip(shape, strides):
        steps = [k * stride for k in range(n)]
        places = [place + step for place in places for step in steps]
    return places


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a result of arrays of several shapes."""
    longest = max(map(len, shapes))
    sizes = [(1,) * (longest - len(shape)) + shape for shape in shapes]
    result = tuple(next((n for n in lengths if n != 1), 1) for lengths in zip(*sizes))
    if any(n not in (1, wanted) for shape in sizes for n, wanted in zip(shape, result)):
        raise ValueError(f"operands could not be broadcast together with shapes {' '.join(map(str, shapes))}")
    return result


class Selection(NamedTuple):
    """The items that an index selects: a part with strides of its own, or single places."""

    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    places: list[int] | None
    """In bytes from the array's start; None for a part with strides."""
    keeps: bool
    """Whether the result is an array even if it has no axis."""

    @classmethod
    def of(cls, key: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Selection:
        """The items that ``key`` selects in an array."""
        keys = list(key) if isinstance(key, tuple) else [key]
        has_places = any(_is_list(one) for one in keys)
        keeps = any(one is Ellipsis for one in keys)
        named = sum(_axes(one) for one in keys)
        fill = [slice(None)] * (len(shape) - named)
        at = next((k for k, one in enumerate(keys) if one is Ellipsis), None)
        keys[len(keys) if at is None else at : len(keys) if at is None else at + 1] = fill
        start, lengths, steps, lists, axis = 0, [], [], [], 0
        for one in keys:
            if one is None:
                lengths.append(1)
                steps.append(0)
            elif isinstance(one, slice):
                first, stop, step = one.indices(shape[axis])
                lengths.append(len(range(first, stop, step)))
                steps.append(step * strides[axis])
                start += first * strides[axis] if lengths[-1] else 0
                axis += 1
            elif _is_list(one) or has_places:
                for chosen in _numbers(one, shape, axis):
                    lists.append((len(lengths), chosen, strides[axis]))
                    axis += 1
            else:
                start += _in_range(int(one.__index__()), shape[axis]) * strides[axis]
                axis += 1
        if not has_places:
            return cls(start, tuple(lengths), tuple(steps), None, keeps)
        return cls._of_lists(start, lengths, steps, lists)

    @classmethod
    def _of_lists(cls, start: int, lengths: list[int], steps: list[int], lists: list[Any]) -> Selection:
        """The places that lists of numbers select, each with the axes before it."""
        chosen = broadcast_shape(*(one.shape for _, one, _ in lists))
        by_list = [[number * stride for number in one.spread(chosen)] for _, one, stride in lists]
        together = [sum(places) for places in zip(*by_list)]
        before = [place for place, _, _ in lists]
        split = before[0] if before[0] == before[-1] else 0  # lists with a slice between them come first
        first = places_of(tuple(lengths[:split]), tuple(steps[:split]), start)
        last = places_of(tuple(lengths[split:]), tuple(steps[split:]))
        places = [a + b + c for a in first for b in together for c in last]
        return cls(start, (*lengths[:split], *chosen, *lengths[split:]), (), places, True)


def _is_list(key: Any) -> bool:
    """Whether a key selects places one by one. An array without axes is a number."""
    return isinstance(key, list) or bool(getattr(key, "shape", ()))


def _axes(key: Any) -> int:
    if key is None or key is Ellipsis:
        return 0
    return len(key.shape) if _is_list(key) and not isinstance(key, list) and key.dtype.kind == "b" else 1


def _numbers(key: Any, shape: tuple[int, ...], axis: int) -> list[Any]:
    """A key as an array of numbers for each axis that it stands for."""
    array = asarray(key)
    if array.dtype.kind == "b" and array.ndim:
        if array.shape != shape[axis : axis + array.ndim]:
            raise IndexError("boolean index did not match indexed array")
        return list(nonzero(array))
    n = shape[axis]
    return [asarray([_in_range(number, n) for number in array.items()] or [], int).reshape(array.shape)]


def nonzero(array: Any) -> tuple[Any, ...]:
    found = [k for k, item in enumerate(array.items()) if item]
    numbers, rest = [], size_of(array.shape)
    for n in array.shape:
        rest //= n or 1
        numbers.append(asarray([k // rest % n for k in found], int))
    return tuple(numbers)


def _in_range(number: int, n: int) -> int:
    if not -n <= number < n:
        raise IndexError(f"index {number} is out of bounds for axis with size {n}")
    return number + n if number < 0 else number


class ndarray:  # named as in NumPy
    """See NumPy. Items lie in the memory of an ``array.array``, whose address kernels get."""

    __array_priority__ = 1
    __slots__ = ("_bytes", "_memory", "_start", "dtype", "shape", "strides")

    def __init__(self, store: Any, start: int, shape: tuple[int, ...], strides: tuple[int, ...], kind: dtype) -> None:
        self._memory, self._start = store, start
        self._bytes = memoryview(store).cast("B")
        self.shape, self.strides, self.dtype = shape, strides, kind

    # Making

    @classmethod
    def of(cls, values: list[Any], shape: tuple[int, ...], kind: dtype) -> ndarray:
        """A new array of items in order; the values are in the range of the type."""
        if not kind.is_number:
            content = b"".join(values)
            store = memory("Q", content + bytes(-len(content) % 8 or 8 * (not content)))
        else:
            code = "b" if kind is BOOL else kind.code
            try:
                store = memory(code, values or [0])
            except OverflowError:
                store = memory(code, kind.wrapped(values))
        return cls(store, 0, shape, strides_of(shape, kind.itemsize), kind)

    @classmethod
    def zeros(cls, shape: tuple[int, ...], kind: dtype) -> ndarray:
        n = size_of(shape) * kind.itemsize
        return cls(memory("Q", bytes(n + (-n % 8) or 8)), 0, shape, strides_of(shape, kind.itemsize), kind)

    def _view(self, start: int, shape: tuple[int, ...], strides: tuple[int, ...], kind: dtype) -> ndarray:
        return ndarray(self._memory, start, shape, strides, kind)

    # Reading

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return size_of(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def flags(self) -> SimpleNamespace:
        return SimpleNamespace(c_contiguous=self.is_contiguous, writeable=True)

    @property
    def address(self) -> int:
        """Where its first item lies."""
        return int(self._memory.buffer_info()[0]) + self._start

    @property
    def is_contiguous(self) -> bool:
        """Whether its items lie one after the other, in order."""
        expected = self.dtype.itemsize
        for n, stride in zip(reversed(self.shape), reversed(self.strides)):
            if n != 1 and stride != expected:
                return False
            expected *= n
        return True

    def items(self) -> list[Any]:
        """All items in order: numbers of Python, or bytes."""
        size = self.dtype.itemsize
        if self.dtype.is_number and self.is_contiguous and not self._start % size:
            at = self._start // size
            return self._bytes.cast(self.dtype.code)[at : at + self.size].tolist()
        if self.dtype.is_number and self.ndim and self.strides[-1] > 0 and self.shape[-1] > 3:
            return self._rows()
        return self._read(places_of(self.shape, self.strides, self._start))

    def _rows(self) -> list[Any]:
        """All items, read one row of the last axis at a time, which is quicker than one by one."""
        size, n, step = self.dtype.itemsize, self.shape[-1], self.strides[-1]
        places = places_of(self.shape[:-1], self.strides[:-1], self._start)
        if gcd(size, step, *places) != size:
            return self._read(places_of(self.shape, self.strides, self._start))
        numbers, by = self._bytes.cast(self.dtype.code), step // size
        return [item for at in places for item in numbers[at // size : at // size + (n - 1) * by + 1 : by].tolist()]

    def _read(self, places: list[int]) -> list[Any]:
        """The items at places of the memory."""
        code, size = self.dtype.code, self.dtype.itemsize
        if not self.dtype.is_number:
            return [bytes(self._bytes[place : place + size]) for place in places]
        if gcd(size, *places) != size:  # a field of a record that is not aligned
            return [struct.unpack_from(code, self._bytes, place)[0] for place in places]
        numbers = self._bytes.cast(code)
        return [numbers[place // size] for place in places]

    def _write(self, places: list[int], values: list[Any]) -> None:
        """Puts items at places of the memory."""
        code, size = self.dtype.code, self.dtype.itemsize
        if not self.dtype.is_number:
            for place, content in zip(places, values):
                self._bytes[place : place + size] = content
        elif gcd(size, *places) != size:
            for place, number in zip(places, values):
                struct.pack_into(code, self._bytes, place, number)
        else:
            numbers = self._bytes.cast(code)
            for place, number in zip(places, values):
                numbers[place // size] = number

    def spread(self, shape: tuple[int, ...]) -> list[Any]:
        """All items of the array repeated to a shape."""
        return self.items() if shape == self.shape else broadcast_to(self, shape).items()

    def tolist(self) -> Any:
        if self.ndim == 1 and self.dtype.is_number:
            return self.items()
        return [item.tolist() if isinstance(item, ndarray) else item for item in self] if self.shape else self.item()

    def item(self) -> Any:
        (only,) = self.items()
        return only

    def __str__(self) -> str:
        return str(self.tolist())

    def tobytes(self) -> bytes:
        kept = self if self.is_contiguous else self.copy()
        return bytes(kept._bytes[kept._start : kept._start + kept.nbytes])

    def copy(self) -> ndarray:
        if self.is_contiguous:
            made = ndarray.zeros(self.shape, self.dtype)
            made._bytes[: self.nbytes] = self._bytes[self._start : self._start + self.nbytes]
            return made
        return ndarray.of(self.items(), self.shape, self.dtype)

    def astype(self, kind: Any, copy: bool = True) -> ndarray:
        of = dtype(kind)
        if of is self.dtype:
            return self.copy() if copy else self
        return ndarray.of(of.cast(self.items(), self.dtype), self.shape, of)

    # Shapes

    def reshape(self, *shape: Any) -> ndarray:
        sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if -1 in sizes:
            rest = -size_of(sizes)
            sizes = tuple(self.size // rest if n == -1 else n for n in sizes)
        if size_of(sizes) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {sizes}")
        kept = self if self.is_contiguous else self.copy()
        return kept._view(kept._start, sizes, strides_of(sizes, self.dtype.itemsize), self.dtype)

    def ravel(self) -> ndarray:
        return self.reshape(-1)

    def transpose(self, *axes: int) -> ndarray:
        order = axes or tuple(reversed(range(self.ndim)))
        return self._view(
            self._start, tuple(self.shape[k] for k in order), tuple(self.strides[k] for k in order), self.dtype
        )

    @property
    def T(self) -> ndarray:
        return self.transpose()

    def view(self, kind: Any) -> ndarray:
        of = dtype(kind)
        if of.itemsize == self.dtype.itemsize:
            return self._view(self._start, self.shape, self.strides, of)
        last = self.shape[-1] * self.dtype.itemsize // of.itemsize
        return self._view(self._start, (*self.shape[:-1], last), (*self.strides[:-1], of.itemsize), of)

    # Items

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 1 and self.dtype.is_number:
            return iter(self.items())
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._field(key)
        found = Selection.of(key, self.shape, self.strides)
        if found.places is None:
            view = self._view(self._start + found.start, found.shape, found.strides, self.dtype)
            return view if found.shape or found.keeps else view._only()
        values = self._read([self._start + place for place in found.places])
        return ndarray.of(values, found.shape, self.dtype)

    def _only(self) -> Any:
        return void(self) if self.dtype.fields else self.item()

    def _field(self, name: str) -> ndarray:
        if not self.dtype.fields or name not in self.dtype.fields:
            raise ValueError(f"no field of name {name}")
        kind, offset, shape = self.dtype.fields[name]
        strides = self.strides + strides_of(shape, kind.itemsize)
        return self._view(self._start + offset, self.shape + shape, strides, kind)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            self._field(key)[...] = value
            return
        found = Selection.of(key, self.shape, self.strides)
        kind, places = self.dtype, found.places
        if places is None:
            places = places_of(found.shape, found.strides, found.start)
        if isinstance(value, (ndarray, list, tuple)):
            given = asarray(value)
            # an assignment may have leading axes of length one more than its place
            while given.ndim > len(found.shape) and given.shape[0] == 1:
                given = given.reshape(given.shape[1:])
            values = kind.cast(given.spread(found.shape), given.dtype)
        else:
            plain = value.tobytes() if isinstance(value, void) else scalar(value, kind)
            values = [plain] * len(places)
        self._write([self._start + place for place in places], values)

    def fill(self, value: Any) -> None:
        self[...] = value

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())


class void:  # named as in NumPy
    """A record."""

    def __init__(self, of: ndarray) -> None:
        self._of, self.dtype = of, of.dtype

    def __getitem__(self, name: str) -> Any:
        field = self._of[name]
        return field if field.shape else field.item()

    @property
    def address(self) -> int:
        """Where it lies."""
        return self._of.address

    def tobytes(self) -> bytes:
        return self._of.tobytes()


def scalar(value: Any, kind: dtype) -> Any:
    """A number of Python as one of a type."""
    return kind.cast([value], kind_of(value))[0] if kind.is_number else value


def kind_of(value: object) -> dtype:
    """The type of a number of Python."""
    return BOOL if isinstance(value, bool) else FLOAT64 if isinstance(value, float) else INT64


def asarray(value: Any, kind: Any = None) -> ndarray:
    if isinstance(value, ndarray):
        return value if kind is None else value.astype(kind, copy=False)
    if isinstance(value, void):
        return value._of
    if not isinstance(value, (list, tuple, range)):
        of = dtype(kind) if kind is not None else kind_of(value)
        return ndarray.of([scalar(value, of)], (), of)
    if not value:
        return ndarray.of([], (0,), dtype(kind or float))
    if not any(isinstance(one, (list, tuple, ndarray, void)) for one in value):
        source = max(map(kind_of, value), key=[BOOL, INT64, FLOAT64].index)
        of = source if kind is None else dtype(kind)
        return ndarray.of(of.cast(value, source), (len(value),), of)
    return stacked([asarray(one, kind) for one in value])


def stacked(arrays: Sequence[ndarray]) -> ndarray:
    """Arrays of one shape as the rows of one."""
    of = arrays[0].dtype
    for one in arrays[1:]:
        of = promoted(of, one.dtype)
    if any(one.shape != arrays[0].shape for one in arrays):
        raise ValueError("all input arrays must have the same shape")
    values = [value for one in arrays for value in of.cast(one.items(), one.dtype)]
    return ndarray.of(values, (len(arrays), *arrays[0].shape), of)


def broadcast_to(array: ndarray, shape: tuple[int, ...]) -> ndarray:
    lengths = (1,) * (len(shape) - array.ndim) + array.shape
    strides = (0,) * (len(shape) - array.ndim) + array.strides
    if len(lengths) != len(shape) or any(n not in (1, wanted) for n, wanted in zip(lengths, shape)):
        raise ValueError(f"could not broadcast input array from shape {array.shape} into shape {shape}")
    steps = tuple(0 if n == 1 != wanted else step for n, wanted, step in zip(lengths, shape, strides))
    return array._view(array._start, shape, steps, array.dtype)


def mapped(function: Callable[..., Any], one: Any, other: Any, kind: dtype | None = None) -> Any:
    """A function of two arrays, item by item; ``kind`` is the type of its results, by default that of the items."""
    plain = not isinstance(one, ndarray), not isinstance(other, ndarray)
    if not plain[0] and isinstance(other, (int, float)):
        of = kind or with_plain(one.dtype, other)
        return _new(map(function, one.items(), repeat(other)), one.shape, of)
    if not plain[1] and isinstance(one, (int, float)):
        of = kind or with_plain(other.dtype, one)
        return _new(map(function, repeat(one), other.items()), other.shape, of)
    if all(plain) and isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return function(one, other)
    first, second = asarray(one), asarray(other)
    shape = broadcast_shape(first.shape, second.shape)
    of = kind or promoted(first.dtype, second.dtype)
    return _new(map(function, first.spread(shape), second.spread(shape)), shape, of)


def _new(values: Iterator[Any], shape: tuple[int, ...], kind: dtype) -> ndarray:
    return ndarray.of(list(values), shape, kind)
