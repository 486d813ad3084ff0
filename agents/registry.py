"""Agents by name: ``greedy``, ``random:seed=3``, ``ddqn:runs/ddqn/…/final``, or the folder of a training run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.agent import Agent
from agents.baselines import GreedyAgent, RandomAgent


def _make_ddqn(weights: str = "") -> Agent:
    from agents.ddqn import DDQNAgent  # torch is imported only for agents that need it

    if not weights:
        raise ValueError("agent 'ddqn' needs its weights: write ddqn:PATH, for example ddqn:runs/ddqn/…/final")
    return DDQNAgent.load(weights)


# What stands alone after the colon goes to the setting named here.
_AGENTS: dict[str, tuple[Callable[..., Agent], dict[str, Callable[[str], Any]], str | None]] = {
    "random": (RandomAgent, {"seed": int}, None),
    "greedy": (GreedyAgent, {}, None),
    "ddqn": (_make_ddqn, {"weights": str}, "weights"),
}
NAMES = tuple(_AGENTS)


def make_agent(spec: str) -> Agent:
    """An agent from its name, with settings after a colon, or from a run folder.

    Args:
        spec: ``name``, ``name:setting=value,setting=value``, ``name:PATH`` or the path of a run folder.

    Raises:
        ValueError: unknown name or setting, a bad value, or weights that cannot be read; the message names it.
    """
    name, _, rest = spec.partition(":")
    if name not in _AGENTS:
        if Path(spec).is_dir():
            return _from_run_folder(Path(spec))
        raise ValueError(f"there is no agent {spec!r}: choose of {', '.join(NAMES)}, or give the folder of a run")
    make, allowed, alone = _AGENTS[name]
    settings: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, text = part.partition("=")
        if not equals and alone:
            key, text = alone, part
        if key not in allowed:
            known = f"its settings are {', '.join(allowed)}" if allowed else "it has none"
            raise ValueError(f"agent {name!r} has no setting {key!r}: {known}")
        try:
            settings[key] = allowed[key](text)
        except ValueError:
            raise ValueError(f"agent {name!r}: {key}={text!r} is not a {allowed[key].__name__}") from None
    return make(**settings)


def _from_run_folder(folder: Path) -> Agent:
    config = folder / "config.json"
    try:
        learner = json.loads(config.read_text())["learner"]
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{folder} is not the folder of a run: it has no readable config.json") from None
    return make_agent(f"{learner}:{folder / 'final'}")
