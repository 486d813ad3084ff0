"""Tables that the page reads, computed beforehand: in the browser it would take minutes, and here they are exact."""

from __future__ import annotations

import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from crib_env.agents.belief import habits
from crib_env.agents.equilibrium import Blueprint, load_blueprint, rank_shows
from crib_env.evaluate.skill.luck.variates import standard_luck_table
from crib_env.exact.discard_means import crib_sums
from crib_env.tables.outlook import outlook, standard_values
from crib_env.tables.shipped import WinTable, standard_cribs, standard_pegging, standard_win_table

TABLES: tuple[Callable[[], Any], ...] = (
    crib_sums,
    standard_cribs,
    standard_pegging,
    standard_win_table,
    outlook,
    standard_values,
    habits,
    rank_shows,
    load_blueprint,
    standard_luck_table,
)
"""Cached functions whose results are kept."""
_READ_ONCE = ("errors", "style_hands", "style_cribs", "styles", "late_hands", "late_scores", "plays")
IMPORTED = "crib_sums.xz"
"""The file that modules read when they are imported; then it is in the memory of Python."""


def prepared_tables() -> tuple[dict[str, object], dict[str, bytes]]:
    """What :mod:`crib_env.evaluate.play.web.browser.table` reads: each result as JSON, and the file of its arrays."""
    files: dict[str, bytes] = {}
    results: dict[str, object] = {}
    for table in TABLES:
        made = table()
        if isinstance(made, Blueprint):  # the coach reads its play; nobody discards by it on the page
            made = made._replace(discards=made.discards[:, :0])
        if isinstance(made, WinTable):  # other tables have been made of these
            nothing: dict[str, Any] = dict.fromkeys(_READ_ONCE, np.zeros(0, np.float32))
            made = replace(made, **nothing)
        results[f"{table.__module__}:{table.__name__}"] = _packed(table.__name__, made, files)
    results["weights"] = _packed("weights", tuple(_weights()), files)
    return results, files


def _packed(name: str, value: object, files: dict[str, bytes]) -> dict[str, object]:
    parts: list[bytes] = []
    made = _described(value, parts)
    content = b"".join(parts)
    packed = lzma.compress(content)
    # else the browser unpacks it itself, which takes a tenth of the time
    if is_small := len(packed) < 0.9 * len(zlib.compress(content)):
        content = packed
    file = f"{name}.xz" if is_small else name
    files[file] = content
    return {"file": file, "made": made}


def _described(value: object, content: list[bytes]) -> object:
    """A table, or a part of it; the items of its arrays go to ``content``, all first bytes first: it packs better."""
    if isinstance(value, np.ndarray):
        value = value.astype(np.float32) if value.dtype == np.float16 else value  # the browser has no such type
        start = sum(map(len, content))
        content.append(value.reshape(-1, 1).view(np.uint8).T.tobytes())
        return {"dtype": value.dtype.name, "shape": value.shape, "start": start}
    made = type(value)
    if is_dataclass(value):
        parts = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, tuple):
        parts = list(value)
    elif isinstance(value, (int, float, str)):
        return value
    else:
        raise TypeError(f"{made} cannot be kept")
    return {
        "class": f"{made.__module__.removeprefix('crib_env.')}:{made.__qualname__}",
        "parts": [_described(part, content) for part in parts],
    }


def _weights() -> Iterator[tuple[object, ...]]:
    """The network of ``best`` for deals: its description, then its weights by their names.

    The one for the pegging episode stays out: nobody plays that on the page.
    """
    from crib_env.agents.best import SHIPPED
    from crib_env.agents.networks.weights_file import load_tensors

    tensors, about = load_tensors(SHIPPED)
    yield json.dumps({**about, "hidden": {"deals": about["hidden"]["deals"]}}), ()
    for name, tensor in tensors.items():
        if name.startswith("policies.deals."):
            yield name.removeprefix("policies."), tensor.half().float().numpy()
