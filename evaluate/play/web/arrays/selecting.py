"""Which items an index selects."""

from __future__ import annotations

from typing import Any, NamedTuple

from .dtypes import size_of


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
    from .memory import asarray

    array = asarray(key)
    if array.dtype.kind == "b" and array.ndim:
        if array.shape != shape[axis : axis + array.ndim]:
            raise IndexError("boolean index did not match indexed array")
        return list(nonzero(array))
    n = shape[axis]
    return [asarray([_in_range(number, n) for number in array.items()] or [], int).reshape(array.shape)]


def nonzero(array: Any) -> tuple[Any, ...]:
    from .memory import asarray

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
