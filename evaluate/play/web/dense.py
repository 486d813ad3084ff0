"""The layers of networks as a kernel: in the browser there is no torch."""

from __future__ import annotations

from crib_env.kernels import kernel


@kernel
def fill_dense(inputs, weights, bias, out):
    """Inputs (B, n) times weights (m, n), plus a bias (m,), into ``out`` (B, m); all float32."""
    for b in range(len(inputs)):
        for k in range(len(bias)):
            total = bias[k]
            for i in range(inputs.shape[1]):
                total += inputs[b, i] * weights[k, i]
            out[b, k] = total
