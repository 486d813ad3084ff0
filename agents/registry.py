"""Agents by name: ``greedy``, ``random:seed=3``, ``ddqn:runs/ddqn/…/final``, or the folder of a training run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.agent import Agent
from agents.baselines import CarefulAgent, GreedyAgent, RandomAgent
from agents.halscrib import HalscribAgent
from agents.heuristic import HeuristicAgent
from agents.minimax import MinimaxAgent


def _make_ddqn(weights: str = "") -> Agent:
    from agents.ddqn import DDQNAgent  # torch is imported only for agents that need it

    return DDQNAgent.load(_given("ddqn", weights))


def _make_drqn(weights: str = "") -> Agent:
    from agents.drqn import DRQNAgent

    return DRQNAgent.load(_given("drqn", weights))


def _make_nfsp(weights: str = "", **settings: Any) -> Agent:
    from agents.nfsp import NFSPAgent

    return NFSPAgent.load(_given("nfsp", weights), **settings)


def _make_ppo(weights: str = "") -> Agent:
    from agents.ppo import PPOAgent

    return PPOAgent.load(_given("ppo", weights))


def _make_td(weights: str = "") -> Agent:
    from agents.td import TDAgent

    return TDAgent.load(_given("td", weights))


def _make_best(weights: str = "", scores: bool = True) -> Agent:
    from agents.best import SHIPPED, BestAgent

    return BestAgent.load(weights or SHIPPED, scores)


def _make_weights(weights: str = "", seed: int = 0) -> Agent:
    from agents.weights import WeightsAgent

    return WeightsAgent.make(_given("weights", weights), seed)


def _given(name: str, weights: str) -> str:
    if not weights:
        raise ValueError(f"agent {name!r} needs its weights: write {name}:PATH, for example {name}:runs/{name}/…/final")
    return weights


def _make_expert(hands: int = 100, threads: int = 2) -> Agent:
    from agents.expert import ExpertAgent  # tables that only this agent needs

    return ExpertAgent(hands, threads)


def yes_or_no(text: str) -> bool:
    """A setting that is on or off."""
    if text not in ("yes", "no"):
        raise ValueError(text)
    return text == "yes"


def _make_ismcts(**settings: Any) -> Agent:
    from agents.ismcts import ISMCTSAgent

    return ISMCTSAgent(**settings)


def _make_uct_determinized(**settings: Any) -> Agent:
    from agents.uct import DeterminizedUCTAgent

    return DeterminizedUCTAgent(**settings)


def _make_uct_cheating(**settings: Any) -> Agent:
    from agents.uct import CheatingUCTAgent

    return CheatingUCTAgent(**settings)


_SEARCH: dict[str, Callable[[str], Any]] = {
    "iterations": int,
    "milliseconds": float,
    "exploration": float,
    "rollout": str,
    "reward": str,
    "seed": int,
    "threads": int,
}
_HONEST_SEARCH: dict[str, Callable[[str], Any]] = {**_SEARCH, "draw": str, "show": str}
# What stands alone after the colon goes to the setting named here.
_AGENTS: dict[str, tuple[Callable[..., Agent], dict[str, Callable[[str], Any]], str | None]] = {
    "random": (RandomAgent, {"seed": int}, None),
    "greedy": (GreedyAgent, {}, None),
    "careful": (CarefulAgent, {}, None),
    "heuristic": (HeuristicAgent, {}, None),
    "minimax": (MinimaxAgent, {"depth": int}, None),
    "halscrib": (HalscribAgent, {"seed": int, "adaptive": yes_or_no}, None),
    "expert": (_make_expert, {"hands": int, "threads": int}, None),
    "ismcts": (_make_ismcts, _HONEST_SEARCH, None),
    "uct-determinized": (_make_uct_determinized, {**_HONEST_SEARCH, "determinizations": int}, None),
    "uct-cheating": (_make_uct_cheating, _SEARCH, None),
    "best": (_make_best, {"weights": str, "scores": yes_or_no}, "weights"),
    "ddqn": (_make_ddqn, {"weights": str}, "weights"),
    "drqn": (_make_drqn, {"weights": str}, "weights"),
    "nfsp": (_make_nfsp, {"weights": str, "seed": int, "greedy": yes_or_no}, "weights"),
    "ppo": (_make_ppo, {"weights": str}, "weights"),
    "td": (_make_td, {"weights": str}, "weights"),
    "weights": (_make_weights, {"weights": str, "seed": int}, "weights"),
}
NAMES = tuple(_AGENTS)
# Learners whose weights an agent of another name plays.
_PLAYERS_OF_RUNS = {"response": "best"}


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
    return make_agent(f"{_PLAYERS_OF_RUNS.get(learner, learner)}:{folder / 'final'}")
