"""Reading JSON that somebody else may have written. Every JSON file that a user passes in is read here."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

_LARGEST = 1 << 128  # whole number: seeds may be that large, and a float can still hold it


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text. NaN and Infinity are allowed, because Python writes them.

    Raises:
        ValueError: it is not JSON, a number is too large, or lists are nested too deep.
    """
    try:
        return json.loads(text, parse_float=_number, parse_int=_whole_number)
    except RecursionError:
        raise ValueError("its lists are nested too deep") from None


def read_json(path: Path, fault: str, build: Callable[[Any], T]) -> T:
    """Reads a JSON file and returns ``build(value)``.

    Args:
        fault: how the error message begins, with the name of the file or of its folder.
        build: converts the value, for example by :func:`typed`. If it fails, the file is at fault.

    Raises:
        ValueError: the file does not exist, or ``build`` does not accept its value; the message is ``fault`` and why.
    """
    try:
        if not path.is_file():  # a device might never end
            raise ValueError(f"there is no {path.name}")
        return build(parse_json(path.read_bytes().decode("utf-8-sig")))
    except KeyError as error:
        raise ValueError(f"{fault} (it has no {error})") from None
    except (ArithmeticError, AttributeError, IndexError, OSError, TypeError, ValueError) as error:
        raise ValueError(f"{fault} ({error})") from None


def typed(value: Any, kind: Callable[..., T], name: str = "its content") -> T:
    """Checks that a value from a JSON file has a type, and converts it.

    Args:
        kind: the type: ``int``, ``float``, ``str``, ``bool``, ``Any``, tuples and dictionaries of these, each also with
            ``| None``, and dataclasses and NamedTuples of all of these. Fields of a NamedTuple that have defaults
            may be missing.
        name: what to call it in the error.

    Raises:
        ValueError: the value is not of that type; the message names the part that is wrong.
    """
    result: T = _typed(value, kind, name)
    return result


def _typed(value: Any, kind: Any, name: str) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):  # `| None`
        (other,) = (part for part in parts if part is not NoneType)
        return None if value is None else _typed(value, other, name)
    if origin is tuple:
        _check(isinstance(value, list), value, name, "a list")
        kinds = [parts[0]] * len(value) if parts[-1] is Ellipsis else list(parts)
        _check(len(value) == len(kinds), value, name, f"a list of {len(kinds)}")
        return tuple(_typed(one, of_one, name) for one, of_one in zip(value, kinds))
    if origin is dict:
        _check(isinstance(value, dict), value, name, "a dictionary")
        return {key: _typed(one, parts[1], f"{name}, {key}") for key, one in value.items()}
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        kinds_by_name = get_type_hints(kind)
        _check(isinstance(value, dict), value, name, "a dictionary")
        optional = getattr(kind, "_field_defaults", {})
        if missing := [key for key in kinds_by_name if key not in value and key not in optional]:
            raise ValueError(f"{name} has no {missing[0]!r}")
        if unknown := [key for key in value if key not in kinds_by_name]:
            raise ValueError(f"{name} has an unknown field {unknown[0]!r}: its fields are {', '.join(kinds_by_name)}")
        return kind(**{key: _typed(value[key], of_key, key) for key, of_key in kinds_by_name.items() if key in value})
    if kind is float:
        _check(isinstance(value, (int, float)) and not isinstance(value, bool), value, name, "a number")
        return float(value)
    words = {int: "a whole number", str: "text", bool: "true or false"}
    _check(isinstance(value, kind) and (kind is bool or not isinstance(value, bool)), value, name, words[kind])
    return value


def _check(is_met: bool, value: Any, name: str, wanted: str) -> None:
    if not is_met:
        shown = repr(value) if isinstance(value, (int, float, str)) and len(repr(value)) < 40 else "something else"
        raise ValueError(f"{name} must be {wanted}, not {shown}")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]} is too large")
    return value


def _whole_number(text: str) -> int:
    if len(text) > len(str(_LARGEST)) + 1 or abs(int(text)) > _LARGEST:
        raise ValueError(f"the number {text[:20]} is too large")
    return int(text)
