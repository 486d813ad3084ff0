"""Tables that the page reads, computed beforehand: in the browser it would take minutes, and here they are exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from crib_env.agents.belief.rest_of_deal import habits
from crib_env.agents.equilibrium.blueprint import Blueprint, load_blueprint
from crib_env.agents.equilibrium.situation import rank_shows
from crib_env.evaluate.skill.luck.table import standard_luck_table
from crib_env.exact.discard_means import crib_sums
from crib_env.tables.discard_values import standard_values
from crib_env.tables.outlook import outlook
from crib_env.tables.standard import standard_cribs, standard_pegging, standard_win_table

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


def prepared_tables() -> tuple[dict[str, object], bytes]:
    """What :mod:`crib_env.evaluate.play.web.browser.tables` reads: each result as JSON, and the items of all arrays."""
    content = bytearray()
    results = {}
    for table in TABLES:
        made = table()
        if isinstance(made, Blueprint):  # the coach reads its play; nobody discards by it on the page
            made = made._replace(discards=made.discards[:, :0])
        results[f"{table.__module__}:{table.__name__}"] = _described(made, content)
    return results, bytes(content)


def _described(value: object, content: bytearray) -> object:
    """A table, or a part of it; the items of its arrays go to ``content``."""
    if isinstance(value, np.ndarray):
        value = value.astype(np.float32) if value.dtype == np.float16 else value  # the browser has no such type
        start = len(content)
        content += value.tobytes()
        content += bytes(-len(content) % 8)
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


def prepared_weights() -> tuple[dict[str, object], bytes]:
    """The network of ``best`` for deals, as :mod:`crib_env.evaluate.play.web.browser.weights_file` reads it.

    The one for the pegging episode stays out: nobody plays that on the page.
    """
    from crib_env.agents.best.agent import SHIPPED
    from crib_env.agents.networks.weights_file import load_tensors

    tensors, about = load_tensors(SHIPPED)
    content = bytearray()
    found: dict[str, object] = {"about": {**about, "hidden": {"deals": about["hidden"]["deals"]}}}
    for name, tensor in tensors.items():
        if name.startswith("policies.deals."):
            found[name] = {"start": len(content), "n": tensor.numel(), "shape": list(tensor.shape)}
            content += tensor.half().numpy().tobytes()
    return found, bytes(content)
