"""Types of the items of an array."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

_KINDS = {"?": "b", **dict.fromkeys("bhiq", "i"), **dict.fromkeys("BHIQ", "u"), **dict.fromkeys("fd", "f")}
_NAMES = {
    **{"?": "bool", "b": "int8", "h": "int16", "i": "int32", "q": "int64"},
    **{"B": "uint8", "H": "uint16", "I": "uint32", "Q": "uint64", "f": "float32", "d": "float64"},
}
_RECORD, _BYTES = "record", "bytes"


class Field(NamedTuple):
    """A field of a record."""

    dtype: dtype
    offset: int
    shape: tuple[int, ...]


class dtype:  # named as in NumPy
    """The type of an item: a number by its code in :mod:`struct`, a record, or plain bytes. Each exists once."""

    _made: dict[object, dtype] = {}
    code: str
    kind: str
    name: str
    itemsize: int
    fields: dict[str, Field] | None

    def __new__(cls, what: Any, align: bool = False) -> dtype:
        """See NumPy: a type, its name, or the fields of a record."""
        if isinstance(what, cls):
            return what
        key = (tuple(map(tuple, what)), align) if isinstance(what, list) else what
        if key not in cls._made:
            cls._made[key] = cls._record(what, align) if isinstance(what, list) else cls._plain(what)
        return cls._made[key]

    @classmethod
    def _plain(cls, what: Any) -> dtype:
        if isinstance(what, str) and what.lstrip("|<=")[0] == "V":
            return cls._with(_BYTES, "V", what, int(what.lstrip("|<=")[1:]), None)
        code = _code_of(what)
        known = cls._made.get(code)
        return known or cls._made.setdefault(code, cls._with(code, _KINDS[code], _NAMES[code], struct.calcsize(code)))

    @classmethod
    def _record(cls, fields: Sequence[Sequence[Any]], align: bool) -> dtype:
        found: dict[str, Field] = {}
        at, widest = 0, 1
        for name, kind, *shape in fields:
            of = cls(kind)
            sizes = () if not shape else (shape[0],) if isinstance(shape[0], int) else tuple(shape[0])
            if align:
                widest = max(widest, of.itemsize)
                at = -(-at // of.itemsize) * of.itemsize
            found[name] = Field(of, at, sizes)
            at += of.itemsize * size_of(sizes)
        return cls._with(_RECORD, "V", "void", -(-at // widest) * widest, found)

    @classmethod
    def _with(cls, code: str, kind: str, name: str, itemsize: int, fields: dict[str, Field] | None = None) -> dtype:
        made = object.__new__(cls)
        made.code, made.kind, made.name, made.itemsize, made.fields = code, kind, name, itemsize, fields
        return made

    @property
    def names(self) -> tuple[str, ...] | None:
        """Of the fields."""
        return tuple(self.fields) if self.fields else None

    @property
    def descr(self) -> list[tuple[Any, ...]]:
        """The fields, as they make the same record."""
        return [(name, of, *([shape] if shape else [])) for name, (of, _, shape) in (self.fields or {}).items()]

    @property
    def is_number(self) -> bool:
        """Whether it is no record and no bytes."""
        return self.kind != "V"

    def __eq__(self, other: object) -> bool:
        return self is (other if isinstance(other, dtype) else dtype(other))

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return self.name

    def cast(self, values: Iterable[Any], source: dtype) -> list[Any]:
        """Numbers of another type as numbers of this one; whole numbers wrap around."""
        if self is source or not self.is_number:
            return list(values)
        if self.kind == "b":
            return [value != 0 for value in values]
        if self.kind == "f":
            return list(map(float, values))
        whole = values if source.kind in "iub" else map(int, values)
        if source.kind == self.kind and source.itemsize <= self.itemsize:
            return list(whole)
        return self.wrapped(whole)

    def wrapped(self, values: Iterable[int]) -> list[int]:
        """Whole numbers in the range of this type."""
        bits = 8 * self.itemsize
        low, mask = (1 << (bits - 1) if self.kind == "i" else 0), (1 << bits) - 1
        return [((value + low) & mask) - low for value in values]


def _code_of(what: Any) -> str:
    if what in (bool, int, float):
        return {bool: "?", int: "q", float: "d"}[what]
    if isinstance(what, type):
        return str(what.code)  # type: ignore[attr-defined]  # one of the types of numbers of this package
    text = str(what).lstrip("<|=")
    by_name = {name: code for code, name in _NAMES.items()}
    by_size = {f"{kind}{struct.calcsize(code)}": code for code, kind in _KINDS.items()} | {"b1": "?"}
    return by_name.get(text) or by_size.get(text) or {"float": "d", "int": "q"}.get(text) or text


def size_of(shape: Iterable[int]) -> int:
    """How many items an array of a shape has."""
    n = 1
    for length in shape:
        n *= length
    return n


BOOL, INT64, FLOAT64 = dtype("?"), dtype("q"), dtype("d")


def promoted(one: dtype, other: dtype) -> dtype:
    """The type of a result of numbers of two types."""
    if one is other:
        return one
    low, high = sorted((one, other), key=lambda kind: ("buif".index(kind.kind), kind.itemsize))
    if low.kind == high.kind or low.kind == "b":
        return high
    if high.kind == "f":
        return high if high.itemsize > low.itemsize else FLOAT64
    return high if high.itemsize > low.itemsize else dtype(f"i{2 * low.itemsize}") if low.itemsize < 8 else FLOAT64


def with_plain(kind: dtype, plain: object) -> dtype:
    """The type of a result of numbers of a type and one of Python's."""
    if isinstance(plain, bool):
        return kind
    if isinstance(plain, float):
        return kind if kind.kind == "f" else FLOAT64
    return INT64 if kind.kind == "b" else kind


class _Number:
    """Numbers by themselves are Python's own; these types only make them."""

    code = ""


class generic(_Number):
    """See NumPy."""


class integer(generic):
    def __new__(cls, value: Any = 0) -> Any:
        """A number of this type."""
        return dtype(cls.code).wrapped([int(value)])[0]


class floating(generic):
    def __new__(cls, value: Any = 0.0) -> Any:
        """A number of this type."""
        return struct.unpack(cls.code, struct.pack(cls.code, float(value)))[0]


class bool_(generic):
    code = "?"

    def __new__(cls, value: Any = False) -> Any:
        """A number of this type."""
        return bool(value)


NUMBERS = {
    name: type(name, (floating if _KINDS[code] == "f" else integer,), {"code": code})
    for code, name in _NAMES.items()
    if code != "?"
}
