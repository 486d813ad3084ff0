"""Other projects: OpenSpiel's two-player cribbage, and vector environments with their cheapest games."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import batch_space

from crib_env.evaluate.speed.games import GAMES
from crib_env.evaluate.speed.measuring import Measurement, say_skipped

SAMPLED = "random full games, OpenSpiel, chance sampled by its probabilities"
FAST = "random full games, OpenSpiel, chance picked as actions are"
PROCESSES = 16  # AsyncVectorEnv has a process for each environment
ENVPOOL = "EnvPool "
_ENVPOOL_GAMES = ("CartPole-v1", "Catch-v0", "Taxi-v3", "NChain-v0")


def _openspiel_games(game: Any, n: int, by_probabilities: bool) -> Callable[[], int]:
    """Whole games; chance is sampled by its probabilities, as in OpenSpiel's own examples, or picked like an action,
    since all cards are equally likely."""
    rng, pick = np.random.default_rng(0), random.Random(0)

    def run() -> int:
        for _ in range(n):
            state = game.new_initial_state()
            while not state.is_terminal():
                if by_probabilities and state.is_chance_node():
                    outcomes, probabilities = zip(*state.chance_outcomes())
                    state.apply_action(int(rng.choice(outcomes, p=probabilities)))
                else:
                    legal = state.legal_actions()
                    state.apply_action(legal[int(pick.random() * len(legal))])
        return n

    return run


def openspiel() -> list[Measurement]:
    """Random full games. OpenSpiel counts the last show to its end, and asks players to pass where here they say go."""
    try:
        import pyspiel
    except ImportError:
        say_skipped("OpenSpiel's cribbage", "open_spiel")
        return []
    game = pyspiel.load_game("cribbage(players=2)")
    return [
        Measurement(SAMPLED, _openspiel_games(game, 20, True)),
        Measurement(FAST, _openspiel_games(game, 100, False)),
    ]


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


def other_vectors() -> list[Measurement]:
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
        say_skipped("EnvPool's games", "envpool")
        return rows
    return [*rows, *(Measurement(f"{ENVPOOL}{game}, {GAMES:,}", _envpool_steps(game)) for game in _ENVPOOL_GAMES)]
