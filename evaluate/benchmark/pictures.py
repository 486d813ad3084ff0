"""Pictures of the table: as SVG, and as pixels."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import gymnasium

import crib_env
from crib_env.picture.pixels import to_pixels
from evaluate.benchmark.measuring import Measurement, say_skipped


def _once(draw: Callable[[], object]) -> Callable[[], int]:
    def run() -> int:
        draw()
        return 1

    return run


def measurements() -> list[Measurement]:
    """A picture in the middle of a deal; with the extra ``render`` also its pixels, and frames of an environment."""
    table = crib_env.env()
    table.reset(seed=7)
    for _ in range(8):
        table.step(int(table.observe(table.agent_selection)["action_mask"].argmax()))
    rows = [Measurement("pictures of the table, SVG", _once(table.picture))]
    if find_spec("resvg_py") is None:
        say_skipped("pictures in pixels", "resvg-py", "render")
        return rows
    svg = table.picture()
    height, width, _ = to_pixels(svg).shape
    frames = gymnasium.make("crib_env/Cribbage-v0", render_mode="rgb_array")
    frames.reset(seed=7)
    return [
        *rows,
        Measurement(f"the same as {width} x {height} pixels", _once(lambda: to_pixels(svg))),
        Measurement('frames of a single env, render_mode="rgb_array"', _once(frames.render)),
    ]
