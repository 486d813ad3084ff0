"""Sums, extremes and other reductions of an array along its axes, and sorting."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .dtypes import BOOL, FLOAT64, INT64, dtype
from .memory import asarray, ndarray


def groups_of(array: ndarray, axis: int | tuple[int, ...] | None) -> tuple[list[list[Any]], tuple[int, ...]]:
    """The items that are reduced to one, for each result, and the shape of the results."""
    if axis is None:
        return [array.items()], ()
    along = {k % array.ndim for k in (axis if isinstance(axis, tuple) else (axis,))}
    kept = [k for k in range(array.ndim) if k not in along]
    last = array.transpose(*kept, *sorted(along))
    shape = tuple(array.shape[k] for k in kept)
    items, n = last.items(), 1
    for k in along:
        n *= array.shape[k]
    many = 1
    for length in shape:
        many *= length
    return [items[k * n : (k + 1) * n] for k in range(many)], shape


def reduction(function: Callable[[list[Any]], Any], kind: Callable[[dtype], dtype]) -> Callable[..., Any]:
    """A function of lists as a method of arrays.

    Args:
        function: of the items that become one.
        kind: the type of the result, by that of the items.
    """

    def reduce(array: Any, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, **others: Any) -> Any:
        array = asarray(array)
        groups, shape = groups_of(array, axis)
        values = [function(group, **others) for group in groups]
        of = kind(array.dtype)
        if axis is None and not keepdims:
            return of.cast(values, of)[0]
        if keepdims:
            along = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
            reduced = {k % array.ndim for k in along}
            shape = tuple(1 if k in reduced else n for k, n in enumerate(array.shape))
        made = ndarray.of(values, shape, of)
        return made if shape else made.item()

    return reduce


def _same(kind: dtype) -> dtype:
    return kind


def _whole(kind: dtype) -> dtype:
    return kind if kind.kind == "f" else dtype("u8") if kind.kind == "u" else INT64


def _real(kind: dtype) -> dtype:
    return kind if kind.kind == "f" else FLOAT64


def _argmax(group: list[Any]) -> int:
    return group.index(max(group))


def _argmin(group: list[Any]) -> int:
    return group.index(min(group))


def _mean(group: list[Any]) -> float:
    return sum(group) / len(group) if group else math.nan


def _var(group: list[Any], ddof: int = 0) -> float:
    mean = _mean(group)
    return sum((item - mean) ** 2 for item in group) / (len(group) - ddof)


def _std(group: list[Any], ddof: int = 0) -> float:
    return math.sqrt(_var(group, ddof))


REDUCTIONS = {
    "sum": reduction(sum, _whole),
    "prod": reduction(math.prod, _whole),
    "max": reduction(max, _same),
    "min": reduction(min, _same),
    "any": reduction(any, lambda _: BOOL),
    "all": reduction(all, lambda _: BOOL),
    "argmax": reduction(_argmax, lambda _: INT64),
    "argmin": reduction(_argmin, lambda _: INT64),
    "mean": reduction(_mean, _real),
    "var": reduction(_var, _real),
    "std": reduction(_std, _real),
    "count_nonzero": reduction(lambda group: sum(map(bool, group)), lambda _: INT64),
}


def along(
    array: Any, axis: int | None, function: Callable[[list[Any]], list[Any]], kind: dtype | None = None
) -> ndarray:
    """A function of lists, applied along an axis, whose results take the place of the items."""
    array = asarray(array)
    if axis is None:
        array, axis = array.ravel(), 0
    axis %= array.ndim
    order = [k for k in range(array.ndim) if k != axis]
    groups, shape = groups_of(array, axis)
    found = [function(group) for group in groups]
    values = [item for group in found for item in group]
    made = ndarray.of(values, (*shape, len(found[0]) if found else array.shape[axis]), kind or array.dtype)
    back = [0] * array.ndim
    for place, k in enumerate((*order, axis)):
        back[k] = place
    return made.transpose(*back).copy()


def sort(array: Any, axis: int | None = -1, kind: str | None = None) -> ndarray:
    """See NumPy; it is stable."""
    return along(array, axis, sorted)


def argsort(array: Any, axis: int | None = -1, kind: str | None = None) -> ndarray:
    """See NumPy; it is stable."""
    return along(array, axis, lambda group: sorted(range(len(group)), key=group.__getitem__), INT64)


def cumsum(array: Any, axis: int | None = None) -> ndarray:
    def sums(group: list[Any]) -> list[Any]:
        total, found = type(group[0])(0) if group else 0, []
        for item in group:
            total += item
            found.append(total)
        return found

    return along(array, axis, sums, _whole(asarray(array).dtype))


def lexsort(keys: Any) -> ndarray:
    columns = [asarray(key).items() for key in keys][::-1]
    rows = list(zip(*columns))
    return asarray(sorted(range(len(rows)), key=rows.__getitem__), int)


def unique(array: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """See NumPy; of an array taken as a list. Texts become their places in it, for their numbers alone matter here."""
    is_text = isinstance(array, list) and isinstance(array[0], str)
    given = asarray(list(map(array.index, array)) if is_text else array)
    items = given.items()
    firsts: dict[Any, int] = {}
    for k, item in enumerate(items):
        firsts.setdefault(item, k)
    found = sorted(firsts)
    results = [ndarray.of(found, (len(found),), given.dtype)]
    numbers = {item: k for k, item in enumerate(found)}
    if return_index:
        results.append(asarray([firsts[item] for item in found], int))
    if return_inverse:
        results.append(asarray([numbers[item] for item in items], int).reshape(given.shape))
    if return_counts:
        results.append(asarray([items.count(item) for item in found], int))
    return tuple(results) if len(results) > 1 else results[0]
