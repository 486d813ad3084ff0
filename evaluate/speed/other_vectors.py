"""Other vector environments, with their cheapest games: Gymnasium's over CartPole, and EnvPool's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import batch_space

from crib_env.evaluate.speed.measuring import Measurement, say_skipped
from crib_env.evaluate.speed.vector import GAMES

PROCESSES = 16  # AsyncVectorEnv has a process for each environment
ENVPOOL = "EnvPool "
_ENVPOOL_GAMES = ("CartPole-v1", "Catch-v0", "Taxi-v3", "NChain-v0")


def _steps(envs: Any, actions: np.ndarray, calls: int) -> Callable[[], int]:
    """Repeats the same actions, so that choosing them takes no time."""
    envs.reset()

    def run() -> int:
        for _ in range(calls):
            envs.step(actions)
        return calls * len(actions)

    return run


def _envpool_steps(game: str) -> Callable[[], int]:
    import envpool

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the precision of its own bounds
        envs = envpool.make_gymnasium(game, num_envs=GAMES, num_threads=1)
        return _steps(envs, batch_space(envs.action_space, GAMES).sample(), 5)


def measurements() -> list[Measurement]:
    """Steps with random actions that are drawn once."""

    def cart_pole() -> gymnasium.Env[Any, Any]:
        return gymnasium.make("CartPole-v1")

    in_turn = SyncVectorEnv([cart_pole] * GAMES)
    in_processes = AsyncVectorEnv([cart_pole] * PROCESSES, context="forkserver")
    rows = [
        Measurement(f"CartPole, SyncVectorEnv of {GAMES:,}", _steps(in_turn, in_turn.action_space.sample(), 2)),
        Measurement(
            f"CartPole, AsyncVectorEnv of {PROCESSES}, all cores",
            _steps(in_processes, in_processes.action_space.sample(), 100),
        ),
    ]
    try:
        import envpool  # noqa: F401
    except ImportError:
        say_skipped("EnvPool's games", "envpool", "compare")
        return rows
    return [*rows, *(Measurement(f"{ENVPOOL}{game}, {GAMES:,}", _envpool_steps(game)) for game in _ENVPOOL_GAMES)]
