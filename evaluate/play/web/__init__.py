"""The table in the browser without a server: the same Python and the same kernels, compiled to WebAssembly."""

from __future__ import annotations

from crib_env.evaluate.play.levels import LEVELS
from crib_env.kernels import kernel

NAMED = ("best", "expert", "halscrib", "careful", "heuristic", "greedy", "minimax", "random")
"""Opponents beside the levels."""
PLAYING = frozenset((*NAMED, *(level.agent for level in LEVELS)))
"""All of them, as :func:`crib_env.agents.make_agent` takes them."""


@kernel
def fill_dense(inputs, weights, bias, out):
    """A layer of a network, for there is no torch in the browser: inputs (B, n) times weights (m, n),
    plus a bias (m,), into ``out`` (B, m); all float32."""
    for b in range(len(inputs)):
        for k in range(len(bias)):
            total = bias[k]
            for i in range(inputs.shape[1]):
                total += inputs[b, i] * weights[k, i]
            out[b, k] = total
