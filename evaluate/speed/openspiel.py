"""Random full games of OpenSpiel's two-player cribbage, through its Python interface."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from crib_env.evaluate.speed.measuring import Measurement, say_skipped

SAMPLED = "random full games, OpenSpiel, chance sampled by its probabilities"
FAST = "random full games, OpenSpiel, chance picked as actions are"
REPLAYED = "games, OpenSpiel, one history replayed: no choices at all"


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


def measurements() -> list[Measurement]:
    """Random full games. OpenSpiel counts the last show to its end, and asks players to pass where here they say go."""
    try:
        import pyspiel
    except ImportError:
        say_skipped("OpenSpiel's cribbage", "open_spiel", "compare")
        return []
    game = pyspiel.load_game("cribbage(players=2)")
    return [
        Measurement(SAMPLED, _sampled_games(game, 20)),
        Measurement(FAST, _fast_games(game, 100)),
        Measurement(REPLAYED, _replayed_games(game, 200)),
    ]
