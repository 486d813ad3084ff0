"""Checks of values by their types: options of environments and commands, settings of learners, content of JSON files.

They are this project's own and not those of a library, because the page in the browser runs them without any package.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

_WORDS = {int: "a whole number", float: "a number", str: "text", bool: "True or False", NoneType: "None"}
_LONGEST = 60  # characters of a value in an error


@dataclass(frozen=True)
class Range:
    """The range of numbers that a value may have, as an annotation of its type: ``Annotated[int, Range(1)]``."""

    least: float
    most: float = math.inf
    above: bool = False  # `least` itself is not allowed
    even: bool = False  # only even numbers are

    def __contains__(self, number: float) -> bool:
        return (
            math.isfinite(number)
            and self.least <= number <= self.most
            and not (self.above and number == self.least)
            and not (self.even and number % 2)
        )

    def __str__(self) -> str:
        least = f"{'more than' if self.above else 'at least'} {self.least:,}"
        most = f", at most {self.most:,}" if self.most < math.inf else ""
        if most and not (self.above or self.even):
            return f"{self.least:,} to {self.most:,}"
        return f"{'an even number of ' if self.even else ''}{least}{most}"


MOST_GAMES = 100_000_000  # some gigabytes of scores and deals
Amount = Annotated[int, Range(1, MOST_GAMES)]
WholeNumber = Annotated[int, Range(0)]
Games = Annotated[int, Range(2, MOST_GAMES, even=True)]  # mirrored games come in pairs
Seed = Annotated[int, Range(0, 2**63 - 2)]  # torch takes 64 bits, and the last match uses the next seed
Positive = Annotated[float, Range(0, above=True)]
Share = Annotated[float, Range(0, 1)]
Threads = Annotated[int, Range(1, 256)]  # thousands crash torch


def is_integer(value: Any) -> bool:
    """Whether it is an integer of Python or NumPy, and not a ``bool``."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_values(values: Mapping[str, Any], kinds: Mapping[str, Any]) -> None:
    """Checks values by their types, both by name; errors are those of :func:`typed`."""
    for name, value in values.items():
        typed(value, kinds[name], name)


def typed(value: Any, kind: Any, name: str = "content") -> Any:
    """A value of a type; lists become tuples, and dictionaries become dataclasses and NamedTuples.

    Args:
        kind: ``int``, ``float``, ``str``, ``bool``, ``Any``, ``Literal``, tuples and dictionaries of these, each also
            with ``| None`` and with a :class:`Range`, and dataclasses and NamedTuples of all of these. Fields of a
            NamedTuple that have defaults may be missing.

    Raises:
        ValueError: it is not of that type or out of range; the message calls it ``name``, and says what is allowed.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin is Annotated:
        found = typed(value, parts[0], name)
        for allowed in parts[1:]:
            if isinstance(allowed, Range) and found is not None and found not in allowed:
                raise _refusal(value, name, str(allowed))
        return found
    if origin in (Union, UnionType):
        faults = []
        for part in sorted(parts, key=lambda part: part is NoneType):
            try:
                return typed(value, part, name)
            except ValueError as fault:
                faults.append(fault)
        raise faults[0] from None
    if origin is Literal:
        if not (value is None or isinstance(value, str) or is_integer(value)) or value not in parts:
            raise _refusal(value, name, f"one of {', '.join(map(repr, parts))}")
        return value
    if origin is tuple:
        several = parts[-1] is Ellipsis
        if not isinstance(value, (list, tuple)) or not (several or len(value) == len(parts)):
            raise _refusal(value, name, "a list" if several else f"a list of {len(parts)}")
        return tuple(
            typed(one, of_one, name) for one, of_one in zip(value, parts[:1] * len(value) if several else parts)
        )
    if origin is dict:
        if not isinstance(value, dict):
            raise _refusal(value, name, "a dictionary")
        return {key: typed(one, parts[1], f"{name}[{key!r}]") for key, one in value.items()}
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return _typed_fields(value, kind, name)
    allowed = {int: (int, np.integer), float: (int, float), bool: (bool, np.bool_)}.get(kind, kind)
    if not isinstance(value, allowed) or (kind in (int, float) and isinstance(value, bool)):
        raise _refusal(value, name, _WORDS.get(kind, "another kind of value"))
    return float(value) if kind is float else value


def _typed_fields(value: Any, kind: Any, name: str) -> Any:
    kinds = get_type_hints(kind, include_extras=True)
    if isinstance(value, kind):
        check_values(vars(value), kinds)
        return value
    if not isinstance(value, dict):
        raise _refusal(value, name, "a dictionary")
    optional = getattr(kind, "_field_defaults", {})
    if missing := [key for key in kinds if key not in value and key not in optional]:
        raise ValueError(f"{name} has no {missing[0]!r}")
    if unknown := [key for key in value if key not in kinds]:
        raise ValueError(f"{name} has an unknown field {unknown[0]!r}: its fields are {', '.join(kinds)}")
    return kind(**{key: typed(one, kinds[key], key) for key, one in value.items()})


def _refusal(value: Any, name: str, wanted: str) -> ValueError:
    shown = repr(value)
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
    return ValueError(f"{name}={shown} is not allowed: give {wanted}")
