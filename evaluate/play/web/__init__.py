"""The table in the browser without a server: the same Python and the same kernels, compiled to WebAssembly."""

from __future__ import annotations

from crib_env.evaluate.play.levels import LEVELS

NAMED = ("best", "expert", "halscrib", "careful", "heuristic", "greedy", "minimax", "random")
"""Opponents beside the levels."""
PLAYING = frozenset((*NAMED, *(level.agent for level in LEVELS)))
"""All of them, as :func:`crib_env.agents.make_agent` takes them."""
