"""A linear layer for inputs of 0 and 1, few of which are 1: it adds up weights, and multiplies nothing.

Of the inputs by rank some 30 of 401 are 1 at a decision of the play. There the layer costs a fourth of a product of
matrices, and with its gradient half (docs/benchmarks/learners.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env.kernels import kernel


@kernel
def _ones(inputs, row, places):
    """Writes where a row of inputs is 1; how many places there are, up to a multiple of 4 by the last of them."""
    n, none = 0, inputs.shape[1]
    for i in range(inputs.shape[1]):
        places[n] = i
        n += inputs[row, i] != 0
    while n % 4:
        places[n] = none
        n += 1
    return n


@kernel
def _sum_rows(inputs, weights, bias, out):
    """``weights`` (n + 1, h) end with a row of zeros. Four rows at a time are read: the sum is written less often."""
    places = np.empty(inputs.shape[1] + 4, np.int64)
    for b in range(len(inputs)):
        n, total = _ones(inputs, b, places), out[b]
        total[:] = bias
        for i in range(0, n, 4):
            one, two, three, four = (
                weights[places[i]],
                weights[places[i + 1]],
                weights[places[i + 2]],
                weights[places[i + 3]],
            )
            for k in range(len(bias)):
                total[k] += (one[k] + two[k]) + (three[k] + four[k])


@kernel
def _add_to_rows(inputs, slopes, out):
    places = np.empty(inputs.shape[1] + 4, np.int64)
    for b in range(len(inputs)):
        n, slope = _ones(inputs, b, places), slopes[b]
        for i in range(n):
            row = out[places[i]]
            for k in range(len(slope)):
                row[k] += slope[k]


class _Summed(torch.autograd.Function):
    """(B, n) int8 inputs, (h, n) weights and (h,) bias to (B, h)."""

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(inputs)
        out = torch.empty(len(inputs), len(bias))
        rows = nn.functional.pad(weight.detach().t(), (0, 0, 0, 1))
        _sum_rows(inputs.numpy(), rows.numpy(), bias.detach().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor]:
        (inputs,), (slope,) = ctx.saved_tensors, slopes
        out = np.zeros((inputs.shape[1] + 1, slope.shape[1]), np.float32)
        _add_to_rows(inputs.numpy(), slope.contiguous().numpy(), out)
        return None, torch.from_numpy(out[:-1]).t(), slope.sum(dim=0)


class SparseLinear(nn.Linear):
    """Inputs (B, n) int8 of 0 and 1 to (B, h) float32; parameters are those of ``nn.Linear``."""

    @classmethod
    def of(cls, layer: nn.Linear) -> SparseLinear:
        """The same layer, with the same parameters."""
        made = cls(layer.in_features, layer.out_features, device="meta")
        made.weight, made.bias = layer.weight, layer.bias
        return made

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """See the class. A GPU multiplies matrices faster than it adds up rows."""
        if inputs.is_cuda:
            return super().forward(inputs.to(torch.bfloat16 if torch.is_autocast_enabled("cuda") else torch.float32))
        summed: torch.Tensor = _Summed.apply(inputs.contiguous(), self.weight, self.bias)
        return summed


def make_sparse(body: nn.Sequential) -> None:
    """Makes the first of these layers a :class:`SparseLinear`."""
    if len(body) and isinstance(body[0], nn.Linear):
        body[0] = SparseLinear.of(body[0])


def is_sparse(body: nn.Sequential) -> bool:
    """Whether the first of these layers is a :class:`SparseLinear`."""
    return len(body) > 0 and isinstance(body[0], SparseLinear)
