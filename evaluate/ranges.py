"""Ranges of numbers as annotations of types, checked before any work: settings of learners, options of commands."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import wraps
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

_WORDS = {bool: "true or false", str: "text", NoneType: "nothing"}


@dataclass(frozen=True)
class Range:
    """The range of numbers that a setting accepts, as an annotation of its type: ``Annotated[int, Range(1)]``.

    Attributes:
        least: the smallest number allowed.
        most: the largest number allowed.
        above: whether ``least`` itself is not allowed.
        even: whether only even numbers are allowed.
    """

    least: float
    most: float = math.inf
    above: bool = False
    even: bool = False

    def __contains__(self, number: float) -> bool:
        return (
            math.isfinite(number)
            and self.least <= number <= self.most
            and not (self.above and number == self.least)
            and not (self.even and number % 2)
        )

    def __str__(self) -> str:
        if self.even:
            return f"an even number of at least {self.least:,}" + f", at most {self.most:,}" * (self.most < math.inf)
        if self.most == math.inf:
            return f"{'more than' if self.above else 'at least'} {self.least:,}"
        return f"more than {self.least:,}, at most {self.most:,}" if self.above else f"{self.least:,} to {self.most:,}"


MOST_GAMES = 100_000_000  # some gigabytes of scores and deals
Amount = Annotated[int, Range(1, MOST_GAMES)]
WholeNumber = Annotated[int, Range(0)]
Games = Annotated[int, Range(2, MOST_GAMES, even=True)]  # mirrored games come in pairs
Seed = Annotated[int, Range(0, 2**63 - 2)]  # torch takes 64 bits, and the last match uses the next seed
Positive = Annotated[float, Range(0, above=True)]
Share = Annotated[float, Range(0, 1)]
Threads = Annotated[int, Range(1, 256)]  # thousands crash torch


def check_values(values: Mapping[str, Any], kinds: Mapping[str, Any]) -> None:
    """Checks values by the annotations of their types; those inside a dataclass too.

    Args:
        values: by name.
        kinds: their types by name, with annotations.

    Raises:
        ValueError: one has the wrong type or is out of range; the message names it and says what is allowed.
    """
    for name, value in values.items():
        if is_dataclass(value):
            check_values(vars(value), get_type_hints(type(value), include_extras=True))
        elif (wanted := _not_met(value, kinds[name])) is not None:
            raise ValueError(f"{name}={value!r} is not allowed: give {wanted}")


def checked(command: Callable[..., None]) -> Callable[..., None]:
    """A function that checks its arguments by :func:`check_values` first."""

    @wraps(command)
    def call(*given: Any, **named: Any) -> None:
        arguments = inspect.signature(command).bind(*given, **named).arguments
        check_values(arguments, get_type_hints(command, include_extras=True))
        command(*given, **named)

    return call


def _not_met(value: Any, kind: Any) -> str | None:
    """What a value must be, in words, if it is not of this kind; ``None`` if it is."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        wanted = _not_met(value, parts[0])
        ranges = [note for note in parts[1:] if isinstance(note, Range)]
        return wanted or next((str(one) for one in ranges if value not in one), None)
    if origin is Literal:
        return None if value in parts else f"one of {', '.join(map(repr, parts))}"
    if origin in (Union, UnionType):  # `| None`
        faults = [_not_met(value, part) for part in parts]
        return None if None in faults else faults[0]
    if origin is tuple:
        if not isinstance(value, tuple):
            return "a list"
        wanted = next(filter(None, (_not_met(one, parts[0]) for one in value)), None)
        return wanted and f"numbers of {wanted}"
    if kind is float:
        return None if isinstance(value, (int, float)) and not isinstance(value, bool) else "a number"
    if kind is int:
        return None if isinstance(value, int) and not isinstance(value, bool) else "a whole number"
    return None if isinstance(value, kind) else _WORDS.get(kind, "another kind of value")
