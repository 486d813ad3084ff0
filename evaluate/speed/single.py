"""One game at a time: this project's environment, PettingZoo's loop with its games and ours, and pictures."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np

import crib_env
from crib_env.evaluate.speed.measuring import Measurement, say_skipped
from crib_env.single_agent import SingleAgentCribbage

ONE_GAME = "random full games, raw_env"


def _single_steps(env: Any, episodes: int) -> Callable[[], int]:
    """Random play against a random opponent; the learner's steps."""
    rng = np.random.default_rng(0)

    def run() -> int:
        steps = 0
        for _ in range(episodes):
            _, info = env.reset()
            draws, terminated = iter(rng.random(2_000).tolist()), False
            while not terminated:
                legal = info["action_mask"].nonzero()[0]
                _, _, terminated, _, info = env.step(legal[int(next(draws) * len(legal))])
                steps += 1
        return steps

    return run


def _aec_turns(env: Any, episodes: int) -> Callable[[], int]:
    """Random play through PettingZoo's loop; the number of turns."""
    rng = np.random.default_rng(0)

    def run() -> int:
        turns = 0
        for _ in range(episodes):
            env.reset()
            draws = iter(rng.random(2_000).tolist())
            while True:
                observation, _reward, terminated, truncated, _info = env.last()
                if terminated or truncated:
                    break
                legal = observation["action_mask"].nonzero()[0]
                env.step(legal[int(next(draws) * len(legal))])
                turns += 1
        return turns

    return run


def _full_games(env: crib_env.raw_env, episodes: int) -> Callable[[], int]:
    """Random play without observations, as in the rows of OpenSpiel."""
    pick = random.Random(0)

    def run() -> int:
        for _ in range(episodes):
            env.reset()
            while legal := env.legal_actions():
                env.step(legal[int(pick.random() * len(legal))])
        return episodes

    return run


def single_games() -> list[Measurement]:
    """Random play, in whole episodes."""
    rows = [
        Measurement("single env, learner's steps", _single_steps(SingleAgentCribbage(), 20)),
        Measurement(
            "single env by gymnasium.make, learner's steps",
            _single_steps(gymnasium.make("crib_env/Cribbage-v0"), 20),
        ),
        Measurement(ONE_GAME, _full_games(crib_env.raw_env(), 20)),
        Measurement("crib_env raw_env, turns", _aec_turns(crib_env.raw_env(), 20)),
        Measurement("crib_env env, turns", _aec_turns(crib_env.env(), 20)),
    ]
    try:
        from pettingzoo.classic import connect_four_v3, tictactoe_v3
    except ImportError:
        say_skipped("PettingZoo's tictactoe and connect_four", "pygame")
        return rows
    return [
        *rows,
        Measurement("tictactoe raw_env, turns", _aec_turns(tictactoe_v3.raw_env(), 100)),
        Measurement("tictactoe env, turns", _aec_turns(tictactoe_v3.env(), 100)),
        Measurement("connect_four raw_env, turns", _aec_turns(connect_four_v3.raw_env(), 50)),
        Measurement("connect_four env, turns", _aec_turns(connect_four_v3.env(), 50)),
    ]


def _svg(table: crib_env.raw_env) -> Callable[[], int]:
    def run() -> int:
        table.picture()
        return 1

    return run


def _frames(env: Any) -> Callable[[], int]:
    """A frame of every decision, through whole games."""

    def run() -> int:
        _, info = env.reset()
        n, terminated = 0, False
        while not terminated:
            env.render()
            *_, terminated, _, info = env.step(int(info["action_mask"].argmax()))
            n += 1
        return n

    return run


def pictures() -> list[Measurement]:
    """A picture in the middle of a deal; with the extra ``render`` also frames of an environment."""
    table = crib_env.raw_env()
    table.reset(seed=7)
    for _ in range(8):
        table.step(int(table.observe(table.agent_selection)["action_mask"].argmax()))
    rows = [Measurement("pictures of the table, SVG", _svg(table))]
    if find_spec("resvg_py") is None:
        say_skipped("pictures in pixels", "resvg-py")
        return rows
    env = gymnasium.make("crib_env/Cribbage-v0", render_mode="rgb_array")
    env.reset(seed=7)
    return [*rows, Measurement('frames of a single env, 960 x 720, render_mode="rgb_array"', _frames(env))]
