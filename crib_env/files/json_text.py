"""Reads JSON that others may have written. Every JSON file that a user passes in is read here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

_LARGEST = 1 << 128  # whole number: seeds may be that large, and a float can still hold it


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text. NaN and Infinity are allowed, because Python writes them.

    Raises:
        ValueError: it is not JSON, a number is too large, or lists are nested too deep.
    """
    try:
        return json.loads(text, parse_float=_number, parse_int=_number)
    except RecursionError:
        raise ValueError("its lists are nested too deep") from None


def read_json(path: Path, fault: str, build: Callable[[Any], T]) -> T:
    """Reads a JSON file and returns ``build(value)``.

    Args:
        fault: how the error message begins, with the name of the file or of its folder.
        build: converts the value, for example by :func:`crib_env.values.typed`. If it fails, the file is at fault.

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


def _number(text: str) -> float:
    is_whole = text.lstrip("-").isdecimal()
    if abs(float(text)) > (_LARGEST if is_whole else sys.float_info.max):
        raise ValueError(f"the number {text[:20]} is too large")
    return int(text) if is_whole else float(text)
