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

from crib_env.evaluate.speed.measuring import Measurement, say_skipped
from crib_env.evaluate.speed.vector import GAMES

SAMPLED = "random full games, OpenSpiel, chance sampled by its probabilities"
FAST = "random full games, OpenSpiel, chance picked as actions are"
REPLAYED = "games, OpenSpiel, one history replayed: no choices at all"
PROCESSES = 16  # AsyncVectorEnv has a process for each environment
ENVPOOL = "EnvPool "
_ENVPOOL_GAMES = ("CartPole-v1", "Catch-v0", "Taxi-v3", "NChain-v0")


def _sampled_chance(state: Any, rng: np.random.Generator) -> int:
    """An outcome of a chance node, sampled as in OpenSpiel's own examples."""
    outcomes, probabilities = zip(*state.chance_outcomes())
    return int(rng.choice(outcomes, p=probabilities))


def _sampled_games(game: Any, n: int) -> Callable[[], int]:
    rng, pick = np.random.default_rng(0), random.Random(0)

    def run() -> int:
        for _ in range(n):
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(_sampled_chance(state, rng))
                else:
                    legal = state.legal_actions()
                    state.apply_action(legal[int(pick.random() * len(legal))])
        return n

    return run


def _fast_game(game: Any, pick: random.Random) -> Any:
    """Plays one game to its end. All cards are equally likely, so an outcome of chance can be picked like an action."""
    state = game.new_initial_state()
    while not state.is_terminal():
        legal = state.legal_actions()
        state.apply_action(legal[int(pick.random() * len(legal))])
    return state


def _fast_games(game: Any, n: int) -> Callable[[], int]:
    pick = random.Random(0)

    def run() -> int:
        for _ in range(n):
            _fast_game(game, pick)
        return n

    return run


def _replayed_games(game: Any, n: int) -> Callable[[], int]:
    """A lower bound on its engine's time when called move by move."""
    history = _fast_game(game, random.Random(0)).history()

    def run() -> int:
        for _ in range(n):
            state = game.new_initial_state()
            for action in history:
                state.apply_action(action)
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
        Measurement(SAMPLED, _sampled_games(game, 20)),
        Measurement(FAST, _fast_games(game, 100)),
        Measurement(REPLAYED, _replayed_games(game, 200)),
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
