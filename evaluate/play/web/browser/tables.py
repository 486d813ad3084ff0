"""Tables that were computed beforehand: a cached function of them finds its result here.

See :mod:`crib_env.evaluate.play.web.prepared`.
"""

from __future__ import annotations

import functools
import json
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.selecting import strides_of

_FOLDER = Path("/tables")
_KNOWN = json.loads((_FOLDER / "tables.json").read_text())
_CONTENT = array("Q", (_FOLDER / "tables.bin").read_bytes())


def cache(function: Callable[..., Any]) -> Callable[..., Any]:
    """:func:`functools.cache`, but that tables are not computed."""
    known = _KNOWN.get(f"{function.__module__}:{function.__name__}")
    return _cached(function if known is None else lambda *_: _built(known))


def _built(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        kind, shape = np.dtype(value["dtype"]), tuple(value["shape"])
        return np.ndarray(_CONTENT, value["start"], shape, strides_of(shape, kind.itemsize), kind)
    module, _, name = value["class"].partition(":")
    return getattr(sys.modules[f"crib_env.{module}"], name)(*map(_built, value["parts"]))


_cached, functools.cache = functools.cache, cache  # type: ignore[assignment]
