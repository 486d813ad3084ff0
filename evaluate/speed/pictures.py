"""Pictures of the table: as SVG, and as pixels."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import gymnasium

import crib_env
from crib_env.evaluate.speed.measuring import Measurement, say_skipped


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


def measurements() -> list[Measurement]:
    """A picture in the middle of a deal; with the extra ``render`` also frames of an environment."""
    table = crib_env.raw_env()
    table.reset(seed=7)
    for _ in range(8):
        table.step(int(table.observe(table.agent_selection)["action_mask"].argmax()))
    rows = [Measurement("pictures of the table, SVG", _svg(table))]
    if find_spec("resvg_py") is None:
        say_skipped("pictures in pixels", "resvg-py", "render")
        return rows
    env = gymnasium.make("crib_env/Cribbage-v0", render_mode="rgb_array")
    env.reset(seed=7)
    return [*rows, Measurement('frames of a single env, 960 x 720, render_mode="rgb_array"', _frames(env))]
