"""The agent of a learner from outside this project, made again from its settings and state in a weights file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from crib_env.agents.networks.weights_file import load_tensors

S = TypeVar("S")
_FINAL = "final"  # weights in the folder of a run


def loader_of(learner: Any, name: str) -> Callable[..., Any]:
    """A function that makes the agent of a learner's class, from a weights file or the folder of a finished run.

    Args:
        name: ``module:Class``, which the file must name too.
    """

    def load(path: Path) -> Any:
        file = path / _FINAL if path.is_dir() else path
        tensors, about = load_tensors(file)
        if not isinstance(about, Mapping) or about.get("learner") != name:
            raise ValueError(f"{file} does not hold the state of {name}")
        trained = learner(settings_of(learner.Settings(), about["settings"], str(file)))
        trained.load_state_dict(tensors)
        return trained.agent

    return load


def settings_of(default: S, found: Mapping[str, Any], file: str) -> S:
    """Settings, a dataclass, with values from JSON in a file.

    Raises:
        ValueError: one is unknown or not allowed.
    """
    known = {field.name for field in fields(default)}  # type: ignore[arg-type]  # any dataclass
    if unknown := sorted(set(found) - known):
        raise ValueError(f"{file} has settings that the learner does not know: {', '.join(unknown)}")
    given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in found.items()}
    return replace(default, **given)  # type: ignore[type-var]
