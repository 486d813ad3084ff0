"""The gradient step of all learners."""

from __future__ import annotations

import torch
from torch import nn

_LONGEST = 10.0  # norm of a gradient


def descend(loss: torch.Tensor, network: nn.Module, optimizer: torch.optim.Optimizer, rate: float, what: str) -> None:
    """Takes a step, with the gradient clipped to a norm of 10.

    Args:
        loss: a scalar.
        network: the network whose parameters ``optimizer`` holds.
        optimizer: an optimizer with one group of parameters.
        rate: learning rate.
        what: what the loss belongs to, for the message.

    Raises:
        FloatingPointError: the loss or its gradient is not finite, and the network has not changed; or the step has
            made the weights so large that their norm is not finite.
    """
    if not torch.isfinite(loss):
        raise FloatingPointError(f"the loss of {what} is {loss.item()}")
    optimizer.zero_grad()
    loss.backward()
    length = nn.utils.clip_grad_norm_(network.parameters(), _LONGEST)
    if not torch.isfinite(length):  # a step would make the weights NaN, and a checkpoint could save them
        raise FloatingPointError(f"the gradient of {what} is {length.item()}")
    optimizer.param_groups[0]["lr"] = rate
    optimizer.step()
    size = nn.utils.get_total_norm([parameter.detach() for parameter in network.parameters()])
    if not torch.isfinite(size):  # the next games would be played, and a checkpoint saved, with these weights
        raise FloatingPointError(f"the norm of the weights of {what} is {size.item()}")
