"""Command lines of ``evaluate`` and ``train`` with bad input, and how they are answered."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints
from unittest.mock import patch

from rich.progress import Progress

from crib_env.values import Range
from tests.helpers.command_here import Done, run_here

# What each command needs; the files do not exist, since numbers are checked before files are opened.
NEEDED = {
    "match": ["greedy", "random"],
    "play": ["greedy"],
    "play mcp": ["greedy"],
    "league": ["greedy", "random"],
    "match endgames": ["greedy", "random"],
    "suite": ["greedy"],
    "runs curves": ["run", "--picture", "curve.png"],
    "runs": ["run"],
    "analyse": ["games.jsonl"],
    "dataset": ["folder"],
    "analyse discard": ["5H5CJDQS2H3D"],
    "solve play": ["solution.npz"],
    "solve deal": ["solutions"],
    "exploitability": ["greedy"],
    "analyse leads": ["4C4D5H6S"],
    "analyse rollout": ["5H5CJDQS2H3D", "--agent", "greedy", "--deals", "100"],
    "benchmark": ["games"],
}


def notes_in(kind):
    """Every number in a type, each with its annotations."""
    if get_origin(kind) is Annotated:
        number, *notes = get_args(kind)
        inner = notes_in(number)
        return [(found, [*own, *notes]) for found, own in inner]
    if kind in (int, float):
        return [(kind, [])]
    return [found for part in get_args(kind) for found in notes_in(part)]


class Number(NamedTuple):
    """An option that is a number."""

    option: str
    kind: type
    allowed: Range
    several: int
    """How many of them it takes."""

    def given(self, value: object) -> list[str]:
        """The option with this value, as words of a command line."""
        return [f"--{self.option.replace('_', '-')}", *[str(value)] * self.several]


def numbers_of(options: Any) -> Iterator[Number]:
    """The numbers among the parameters of a command's function, or among the settings of a learner."""
    kinds = get_type_hints(options, include_extras=True)
    for parameter in inspect.signature(options).parameters:
        kind = kinds[parameter]
        plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        own = get_type_hints(plain, include_extras=True) if is_dataclass(plain) else {parameter: kind}
        names = [field.name for field in fields(plain)] if is_dataclass(plain) else [parameter]
        for option in names:
            if found := notes_in(own[option]):
                number, notes = found[0]
                (allowed,) = (note for note in notes if isinstance(note, Range))  # each number has one
                yield Number(option, number, allowed, len(found))


def bad_numbers(number: Number) -> list[object]:
    """Values just outside its range, and others that are no numbers."""
    allowed = number.allowed
    bad: list[object] = [allowed.least if allowed.above else allowed.least - 1]
    bad += [allowed.most + 1] if allowed.most < math.inf else []
    bad += ["nan", "inf"] if number.kind is float else []
    bad += [allowed.least + 1] if allowed.even else []
    return bad


class BegunError(Exception):
    """Work has begun."""


def fault_of(found: Done) -> str | None:
    """Why this is no answer to bad input, ``None`` if it is: a status of 2, and an error in words."""
    if found.status != 2:
        return f"status {found.status}"
    if not found.errors.startswith("error: ") and "For full helptext, " not in found.errors:  # tyro's
        return f"no error in words: {found.errors[-200:]!r}"
    return None


def answer(main: Callable[[], None], arguments: list[str]) -> Done:
    """Runs a command line that should be refused; as soon as it shows progress, it has begun to work.

    Raises:
        BegunError: it has.
        Exception: whatever else the command lets through, which a user would see as a traceback.
    """

    def begin(self: Progress) -> None:
        raise BegunError("it begins to work")

    with patch.object(Progress, "__enter__", begin):
        return run_here(main, *arguments)
