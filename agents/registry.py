"""Agents by name: ``greedy``, ``random:seed=3``, ``ddqn:runs/…/final``, the folder of a run, ``module:Class``, or
``pipe:COMMAND``."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from crib_env.files.json_text import read_json
from crib_env.players.agent import Agent
from crib_env.players.agent_from_text import is_outside, make
from crib_env.values import typed

S = TypeVar("S")
# Imported on first use, because torch and large tables take a while. Settings are parameters of the class or method.
_AGENTS = {
    "random": "crib_env.agents.baselines:RandomAgent",
    "greedy": "crib_env.agents.baselines:GreedyAgent",
    "careful": "crib_env.agents.baselines:CarefulAgent",
    "heuristic": "crib_env.agents.heuristic:HeuristicAgent",
    "minimax": "crib_env.agents.minimax:MinimaxAgent",
    "halscrib": "crib_env.agents.halscrib:HalscribAgent",
    "expert": "crib_env.agents.expert:ExpertAgent",
    "equilibrium": "crib_env.agents.equilibrium:EquilibriumAgent",
    "ismcts": "crib_env.agents.tree_search:ISMCTSAgent",
    "uct-determinized": "crib_env.agents.tree_search:DeterminizedUCTAgent",
    "search": "crib_env.agents.search:SearchAgent",
    "best": "crib_env.agents.best:BestAgent.load",
    "erring": "crib_env.agents.best:ErringAgent",
    "human": "crib_env.agents.human:human_agent",
    "llm": "crib_env.agents.llm:LLMAgent",
    "ddqn": "crib_env.agents.networks.ddqn:DDQNAgent.load",
    "drqn": "crib_env.agents.networks.drqn:DRQNAgent.load",
    "mmd": "crib_env.agents.networks.policy:PolicyAgent.load",
    "mmd-tables": "crib_env.agents.mmd_tables:TablesAgent.load",
    "nfsp": "crib_env.agents.networks.policy:PolicyAgent.load",
    "ppo": "crib_env.agents.networks.policy:PolicyAgent.load",
    "rnad": "crib_env.agents.networks.policy:PolicyAgent.load",
    "strategy-weights": "crib_env.agents.strategy_weights:StrategyWeightsAgent.make",
    "td": "crib_env.agents.networks.td:TDAgent.load",
}
NAMES = tuple(_AGENTS)
_PIPE = "pipe"  # what follows is a command, and no settings
_LLM = "llm"  # sends the user's key to the address that it names


def make_agent(spec: str) -> Agent:
    """An agent from its name, with settings after a colon, from a run folder, or from a class of your own.

    Args:
        spec: ``name``, ``name:setting=value,setting=value``, ``name:PATH``, the path of a run folder, ``module:Class``
            or ``module:Class:setting=value``; or ``pipe:COMMAND``, a program that plays
            (:mod:`crib_env.agents.pipe`). Naming a module runs its code (:mod:`crib_env.players.agent_from_text`).

    Raises:
        ValueError: unknown name or setting, a bad value, or weights that cannot be read; the message names it.
    """
    name, _, settings = spec.partition(":")
    if name in _AGENTS:
        return make(_AGENTS[name], settings, name)
    if name == _PIPE:
        from crib_env.agents.pipe import pipe_agent

        return pipe_agent(settings)
    if os.path.isdir(spec):
        return _from_run_folder(Path(spec))
    if is_outside(spec):
        target = ":".join(spec.split(":", 2)[:2])
        return make(target, spec[len(target) + 1 :], target)
    alike = difflib.get_close_matches(name, NAMES, n=2)
    meant = f"did you mean {' or '.join(alike)}? All: " if alike else "choose one of "
    raise ValueError(
        f"there is no agent {spec!r}: {meant}{', '.join(NAMES)}, or give the folder of a run, a module:Class or "
        "pipe:COMMAND"
    )


def is_outside_agent(spec: str) -> bool:
    """Whether :func:`make_agent` would run code from outside this project, a ``module:Class`` or a command, or send
    the user's key to an address."""
    name = spec.partition(":")[0]
    return name in (_PIPE, _LLM) or (name not in _AGENTS and not os.path.isdir(spec) and is_outside(spec))


def check_names_of_file(names: Iterable[object], said: Collection[str], file: Path) -> None:
    """Makes sure that a data file does not decide whose code runs: the user has to name each ``module:Class`` and
    each ``pipe:COMMAND`` too.

    Args:
        names: agents, and other settings, from the file.
        said: the agents that the user has named as well.

    Raises:
        ValueError: only one of both names such an agent.
    """
    found = {name for name in names if isinstance(name, str) and is_outside_agent(name)}
    if unsaid := found - set(said):
        raise ValueError(f"{file} names {' '.join(sorted(unsaid))}: to run that code, give the name beside --resume")
    if foreign := set(said) - found:
        raise ValueError(f"{file} has no agent {' '.join(sorted(foreign))}: beside --resume give only what it names")


def _from_run_folder(folder: Path) -> Agent:
    fault = f"{folder} is not the folder of a run: it has no readable config.json"
    learner = read_json(folder / "config.json", fault, lambda content: typed(content["learner"], str))
    if is_outside(learner):  # a file never says which code to run
        raise ValueError(f"{folder} is a run of a learner from outside: to run its code, write {learner}:{folder}")
    if learner not in _AGENTS:
        raise ValueError(f"{folder} is not the folder of a run that plays cribbage: its learner is {learner!r}")
    return make(_AGENTS[learner], f"path={folder / 'final'}", learner)


def loader_of(learner: Any, name: str) -> Callable[..., Any]:
    """A function that makes the agent of a learner's class, from a weights file or the folder of a finished run.

    Args:
        name: ``module:Class``, which the file must name too.
    """

    def load(path: Path) -> Any:
        from crib_env.agents.networks.weights_file import load_tensors

        file = path / "final" if path.is_dir() else path
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
