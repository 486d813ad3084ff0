"""One step down a gradient, as all learners here take it."""

from __future__ import annotations

import torch
from torch import nn

_LONGEST = 10.0  # gradient


def descend(loss: torch.Tensor, network: nn.Module, optimizer: torch.optim.Optimizer, rate: float, what: str) -> None:
    """Takes a step, by a gradient cut to a norm of 10.

    Args:
        loss: a scalar.
        network: whose parameters ``optimizer`` holds.
        optimizer: of one group of parameters.
        rate: learning rate.
        what: has this loss, for the message.

    Raises:
        FloatingPointError: the loss is not finite; nothing has changed.
    """
    if not torch.isfinite(loss):
        raise FloatingPointError(f"the loss of {what} is {loss.item()}")
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), _LONGEST)
    optimizer.param_groups[0]["lr"] = rate
    optimizer.step()
