"""Functions, reductions and operators of arrays, as far as the page needs them."""

from __future__ import annotations

import math
import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import Any

from .dtypes import BOOL, FLOAT64, INT64, dtype, promoted, size_of
from .memory import asarray, broadcast_shape, kind_of, mapped, ndarray, nonzero, stacked

inf, nan = math.inf, math.nan


def _real(kind: dtype) -> dtype:
    return kind if kind.kind == "f" else FLOAT64


# --- Reductions along axes, and sorting -------------------------------------------------------------------------------


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
        of = dtype(others.pop("dtype", kind(array.dtype)))
        values = [function(group, **others) for group in groups]
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


# --- Operators ------------------------------------------------------------------------------------------------------


def _quotient(one: float, other: float) -> float:
    if other:
        return one / other
    return nan if one == 0 or one != one else math.copysign(inf, one) * math.copysign(1, other)


def _floor(one: Any, other: Any) -> Any:
    return one // other if other else 0


def _rest(one: Any, other: Any) -> Any:
    return one % other if other else 0


def _divide(one: Any, other: Any) -> Any:
    kinds = [item.dtype for item in (one, other) if isinstance(item, ndarray)]
    is_single = all(kind.name == "float32" for kind in kinds)
    return mapped(_quotient, one, other, dtype("f4") if kinds and is_single else FLOAT64)


def _to_bools(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda one, other: mapped(function, one, other, BOOL)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda one, other: mapped(function, one, other)


_OPERATORS = {
    **{name: _plain(getattr(operator, name)) for name in ("add", "sub", "mul", "pow", "lshift", "rshift")},
    **{name: _plain(getattr(operator, f"{name}_")) for name in ("and", "or")},
    **{"xor": _plain(operator.xor), "floordiv": _plain(_floor), "mod": _plain(_rest), "truediv": _divide},
}
_COMPARISONS = {name: _to_bools(getattr(operator, name)) for name in ("eq", "ne", "lt", "le", "gt", "ge")}


def _listed(value: Any) -> Any:
    return asarray(value) if isinstance(value, (list, tuple)) else value


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(self: ndarray, other: Any) -> ndarray:
        self[...] = function(self, other)
        return self

    return apply


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(self, _listed(other))


def _swapped(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(_listed(other), self)


def _put_operators() -> None:
    for name, function in _OPERATORS.items():
        setattr(ndarray, f"__{name}__", _method(function))
        setattr(ndarray, f"__r{name}__", _swapped(function))
        setattr(ndarray, f"__i{name}__", _in_place(_method(function)))
    for name, function in _COMPARISONS.items():
        setattr(ndarray, f"__{name}__", _method(function))
    ndarray.__hash__ = None  # type: ignore[assignment]
    ndarray.__neg__ = lambda self: mapped(operator.mul, self, -1)  # type: ignore[attr-defined]
    ndarray.__abs__ = _each(abs)  # type: ignore[attr-defined]
    ndarray.__invert__ = invert  # type: ignore[attr-defined]
    ndarray.__matmul__ = matmul  # type: ignore[attr-defined]
    for name, reduce in REDUCTIONS.items():
        setattr(ndarray, name, reduce)
    for name, other in {"argsort": argsort, "cumsum": cumsum, "nonzero": nonzero}.items():
        setattr(ndarray, name, other)
    ndarray.sort = lambda self, axis=-1: self.__setitem__(..., sort(self, axis))  # type: ignore[attr-defined]


def _each(function: Callable[[Any], Any], kind: Callable[[dtype], dtype] | None = None) -> Callable[[Any], Any]:
    """A function of numbers as one of arrays."""

    def apply(array: Any) -> Any:
        if isinstance(array, (int, float)):
            return function(array)
        given = asarray(array)
        return ndarray.of(list(map(function, given.items())), given.shape, kind(given.dtype) if kind else given.dtype)

    return apply


def invert(array: ndarray) -> ndarray:
    return _each(operator.not_ if array.dtype is BOOL else operator.invert)(array)  # type: ignore[no-any-return]


absolute = _each(abs)
sqrt = _each(lambda value: math.sqrt(value) if value >= 0 else nan, _real)
exp = _each(lambda value: math.exp(value) if value < 709.7 else inf, _real)
rint = _each(lambda value: float(round(value)), _real)
isfinite = _each(math.isfinite, lambda _: BOOL)
isnan = _each(lambda value: value != value, lambda _: BOOL)


def nan_to_num(array: Any) -> Any:
    """See NumPy, of arrays without infinities."""
    return _each(lambda value: 0.0 if value != value else value)(array)


def hypot(one: Any, other: Any) -> Any:
    return mapped(math.hypot, one, other, FLOAT64)


class _Pairwise:
    """A function of two arrays with the ways in which it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, one: Any, other: Any, out: Any = None, where: Any = True) -> Any:
        found = self._function(_listed(one), _listed(other))
        if out is None:
            return found
        out[...] = found if where is True else globals()["where"](where, found, out)
        return out

    def at(self, array: ndarray, key: Any, values: Any) -> None:
        """See NumPy: equal places are counted each."""
        places = asarray(range(array.size), int).reshape(array.shape)[key]
        flat = array.ravel()
        for place, value in zip(places.items(), asarray(values).spread(places.shape)):
            flat[place] = self._function(flat[place], value)
        array[...] = flat.reshape(array.shape)


maximum, minimum = (_Pairwise(lambda one, other, of=of: mapped(of, one, other)) for of in (max, min))
add, divide = _Pairwise(_OPERATORS["add"]), _Pairwise(_OPERATORS["truediv"])


def matmul(one: Any, other: Any) -> Any:
    """See NumPy; the second has one axis or two."""
    first, second = asarray(one), asarray(other)
    kind = promoted(first.dtype, second.dtype)
    columns = [second.items()] if second.ndim == 1 else [second[:, k].items() for k in range(second.shape[1])]
    n, items = second.shape[0], first.items()
    rows = [items[k : k + n] for k in range(0, len(items), n)]
    values = [sum(map(operator.mul, row, column)) for row in rows for column in columns]
    made = ndarray.of(kind.cast(values, kind), first.shape[:-1] + second.shape[1:], kind)
    return made if made.shape else made.item()


# --- Making arrays --------------------------------------------------------------------------------------------------


def _shape(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(map(int, shape))


def zeros(shape: Any, dtype: Any = float) -> ndarray:
    return ndarray.zeros(_shape(shape), _dtype(dtype))


empty = zeros
_dtype = dtype


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    made = zeros(shape, kind_of(value) if dtype is None else dtype)
    made.fill(value)
    return made


def ones(shape: Any, dtype: Any = float) -> ndarray:
    return full(shape, 1, dtype)


def zeros_like(array: Any, dtype: Any = None) -> ndarray:
    return zeros(asarray(array).shape, dtype or asarray(array).dtype)


def array(value: Any, dtype: Any = None) -> ndarray:
    if isinstance(value, (list, tuple)) and dtype is not None and _dtype(dtype).fields:
        raise TypeError("records are made by zeros")
    made = asarray(value, dtype)
    return made.copy() if made is value else made


def ascontiguousarray(value: Any, dtype: Any = None) -> ndarray:
    made = asarray(value, dtype)
    return made if made.is_contiguous else made.copy()


def arange(*limits: Any, dtype: Any = None) -> ndarray:
    """See NumPy, of whole numbers."""
    return asarray(range(*map(int, limits)), INT64 if dtype is None else dtype)


def eye(n: int, dtype: Any = float) -> ndarray:
    made = zeros((n, n), dtype)
    made[diag_indices(n)] = 1
    return made


def diag_indices(n: int) -> tuple[ndarray, ndarray]:
    return arange(n), arange(n)


def indices(shape: Sequence[int]) -> ndarray:
    places = list(product(*map(range, shape)))
    return asarray([k for axis in zip(*places) for k in axis], int).reshape(len(shape), *shape)


# --- Joining and choosing -------------------------------------------------------------------------------------------


def concatenate(arrays: Sequence[Any], axis: int = 0, dtype: Any = None) -> ndarray:
    of = [asarray(array) for array in arrays]
    kind = of[0].dtype
    for one in of[1:]:
        kind = promoted(kind, one.dtype)
    kind = kind if dtype is None else _dtype(dtype)
    axis %= of[0].ndim
    before, rows = size_of(of[0].shape[:axis]), []
    parts = [(kind.cast(one.items(), one.dtype), size_of(one.shape[axis:])) for one in of]
    for k in range(before):
        for items, n in parts:
            rows += items[k * n : (k + 1) * n]
    length = sum(one.shape[axis] for one in of)
    return ndarray.of(rows, (*of[0].shape[:axis], length, *of[0].shape[axis + 1 :]), kind)


def stack(arrays: Sequence[Any], axis: int = 0) -> ndarray:
    made = stacked([asarray(array) for array in arrays])
    axis %= made.ndim
    order = [k + 1 for k in range(made.ndim - 1)]
    order.insert(axis, 0)
    return ascontiguousarray(made.transpose(*order))


def where(condition: Any, one: Any = None, other: Any = None) -> Any:
    chosen = asarray(condition)
    if one is None:
        return nonzero(chosen)
    first, second = asarray(one), asarray(other)
    if not isinstance(one, ndarray) and isinstance(other, ndarray):
        kind = mapped(max, other.ravel()[:0], one).dtype
    elif isinstance(one, ndarray) and not isinstance(other, ndarray):
        kind = mapped(max, one.ravel()[:0], other).dtype
    else:
        kind = promoted(first.dtype, second.dtype)
    shape = broadcast_shape(chosen.shape, first.shape, second.shape)
    sides = [kind.cast(side.spread(shape), side.dtype) for side in (second, first)]
    values = [b if c else a for c, a, b in zip(chosen.spread(shape), *sides)]
    return ndarray.of(values, shape, kind)


def select(conditions: Sequence[Any], choices: Sequence[Any], default: Any) -> Any:
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        default = where(condition, choice, default)
    return default


def flatnonzero(array: Any) -> ndarray:
    return nonzero(asarray(array).ravel())[0]  # type: ignore[no-any-return]


def take_along_axis(array: ndarray, places: ndarray, axis: int) -> ndarray:
    """See NumPy, for two axes and the last of them."""
    return array[arange(len(array))[:, None], places]  # type: ignore[no-any-return]


def put_along_axis(array: ndarray, places: ndarray, values: Any, axis: int) -> None:
    """See NumPy, for two axes and the last of them."""
    array[arange(len(array))[:, None], places] = values


def repeat(array: Any, times: Any, axis: int = 0) -> ndarray:
    given = asarray(array)
    many = asarray(times).spread((len(given),))
    return given[asarray([k for k, n in enumerate(many) for _ in range(n)], int)]  # type: ignore[no-any-return]


def insert(array: ndarray, place: int, value: Any, axis: int) -> ndarray:
    """See NumPy, for two axes and the last of them."""
    column = full((len(array), 1), value, array.dtype)
    return concatenate([array[:, :place], column, array[:, place:]], axis=1)


def delete(array: ndarray, place: int, axis: int) -> ndarray:
    """See NumPy, for two axes and the last of them."""
    return concatenate([array[:, :place], array[:, place + 1 :]], axis=1)


def roll(array: Any, by: int) -> ndarray:
    """See NumPy, of one axis."""
    given = asarray(array)
    return given[asarray([(k - by) % len(given) for k in range(len(given))], int)]  # type: ignore[no-any-return]


def diff(array: Any, prepend: Any = None, axis: int = -1) -> ndarray:
    """See NumPy; with ``prepend``, of one axis."""
    given = asarray(array) if prepend is None else concatenate([[prepend], asarray(array)])
    later, earlier = [slice(None)] * given.ndim, [slice(None)] * given.ndim
    later[axis], earlier[axis] = slice(1, None), slice(None, -1)
    return given[tuple(later)] - given[tuple(earlier)]  # type: ignore[no-any-return]


def tril(array: ndarray, k: int = 0) -> ndarray:
    rows, columns = array.shape[-2:]
    kept = asarray([[column <= row + k for column in range(columns)] for row in range(rows)])
    return where(kept, array, asarray(0).astype(array.dtype))  # type: ignore[no-any-return]


def array_split(array: ndarray, parts: int) -> list[ndarray]:
    """See NumPy, along the first axis."""
    n, more = len(array) // parts, len(array) % parts
    ends = [k * n + min(k, more) for k in range(parts + 1)]
    return [array[first:last] for first, last in pairwise(ends)]


def bincount(array: Any, weights: Any = None, minlength: int = 0) -> ndarray:
    numbers = asarray(array).items()
    counts = [0 if weights is None else 0.0] * max(minlength, 1 + max(numbers, default=-1))
    for number, weight in zip(numbers, [1] * len(numbers) if weights is None else asarray(weights).items()):
        counts[number] += weight
    return asarray(counts, int if weights is None else float)


def searchsorted(array: Any, values: Any, side: str = "left") -> Any:
    found, bisect = asarray(array).items(), bisect_left if side == "left" else bisect_right
    if not isinstance(values, ndarray):
        return bisect(found, values)
    return _each(lambda value: bisect(found, value), lambda _: INT64)(values)


def interp(x: Any, xs: Any, ys: Any) -> Any:
    places, heights = asarray(xs).items(), asarray(ys).items()

    def at(value: float) -> float:
        k = min(max(bisect_right(places, value), 1), len(places) - 1)
        share = min(max((value - places[k - 1]) / (places[k] - places[k - 1]), 0.0), 1.0)
        return heights[k - 1] + share * (heights[k] - heights[k - 1])  # type: ignore[no-any-return]

    return _each(at, lambda _: FLOAT64)(x)


def ravel(array: Any) -> ndarray:
    return asarray(array).reshape(-1)


def isin(array: Any, values: Any) -> Any:
    known = set(asarray(values).items())
    return _each(known.__contains__, lambda _: BOOL)(array)


class finfo:  # named as in NumPy
    """See NumPy, of 32 bits."""

    tiny = 2.0**-126

    def __init__(self, kind: Any) -> None:
        if dtype(kind).name != "float32":
            raise TypeError(f"{kind} has no limits here")


def norm(array: Any) -> float:
    """See ``numpy.linalg``, of one axis."""
    return math.sqrt(sum(item * item for item in asarray(array).items()))


_put_operators()
