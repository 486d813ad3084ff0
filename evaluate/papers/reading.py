"""Reads the claims of a paper from the ``claims.json`` of its folder.

The file holds ``name`` and ``title``, ``trainings`` (:class:`crib_env.evaluate.papers.claims.Training`), ``reasons``,
which several claims may give by name as their ``why``, ``groups`` of claims, and what is ``left_out``. A group has the
fields that its claims have in common; each of them may replace some. A claim's published figure is a function of
:mod:`crib_env.evaluate.papers.claims` with its arguments, and its ``measure`` is one of the paper's ``measures.py`` or
of :mod:`crib_env.evaluate.papers.measures`: alone, or with arguments that make it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from crib_env.evaluate.papers import claims, measures
from crib_env.evaluate.papers.claims import Claim, Paper, Training

_PUBLISHED = (
    *(claims.number, claims.share, claims.count, claims.mean, claims.spread),
    *(claims.between, claims.above, claims.below, claims.shown),
)


def read_paper(name: str) -> Paper:
    """The paper of this name, from the folder of its name."""
    folder = name.replace("-", "_")
    own = import_module(f"crib_env.evaluate.papers.{folder}.measures")
    content = json.loads((Path(__file__).parent / folder / "claims.json").read_text(encoding="utf-8"))
    trainings = {
        one["name"]: Training(**one | {"flags": tuple(one["flags"].split()), "episodes": tuple(one["episodes"])})
        for one in content.get("trainings", ())
    }
    reasons, functions = content.get("reasons", {}), {**vars(measures), **vars(own)}

    def claim_of(fields: dict[str, Any]) -> Claim:
        (published,) = (function(*fields.pop(key)) for function in _PUBLISHED if (key := function.__name__) in fields)
        fields["why"] = reasons.get(fields.get("why"), fields.get("why", ""))
        fields["trainings"] = tuple(trainings[training] for training in fields.get("trainings", ()))
        fields["samples"] = tuple(fields.get("samples", (1, 1)))
        return Claim(**fields | {"published": published, "measure": _named(fields["measure"], functions)})

    found = [claim_of({**group, **one}) for group in content["groups"] for one in group.pop("claims")]
    return Paper(name, content["title"], tuple(found), tuple(map(tuple, content["left_out"])))


def _named(call: list[Any], functions: Mapping[str, Any]) -> Any:
    """A function by its name, or what it returns for arguments; a list that begins with a name is a call, too."""
    name, *given = call
    arguments = [_named(one, functions) if isinstance(one, list) and isinstance(one[0], str) else one for one in given]
    return functions[name](*arguments) if arguments else functions[name]
