"""Gradient steps: the number format, optimizers, averages of weights, and what a checkpoint saves of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env.train.loop.settings import Precision

_LONGEST = 10.0  # norm of a gradient


def precision(name: Precision, device: str = "cpu") -> torch.autocast:
    """The context for computing in the format of a setting, on a processor or a GPU, ``"cuda"``."""
    return torch.autocast(device, torch.bfloat16, enabled=name == "bfloat16")


class Parts:
    """What a checkpoint saves, of parts by name: networks, optimizers, memories, each with ``state_dict`` and
    ``load_state_dict``. A dictionary, of parts of each network, is as many parts, ``kind.network``."""

    def __init__(self, **parts: Any) -> None:
        self._parts: dict[str, Any] = {}
        for name, part in parts.items():
            of_networks = {f"{name}.{network}": one for network, one in part.items()} if type(part) is dict else {}
            self._parts |= of_networks or {name: part}

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors of all parts, as ``part.key``."""
        return {
            f"{name}.{key}": value for name, part in self._parts.items() for key, value in part.state_dict().items()
        }

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        for name, part in self._parts.items():
            start = f"{name}."
            part.load_state_dict({key.removeprefix(start): t for key, t in tensors.items() if key.startswith(start)})


class SavedOptimizer:
    """An Adam optimizer of one group of parameters, as a checkpoint saves it."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer

    @property
    def steps(self) -> int:
        """The number of its steps so far."""
        return max((int(state["step"]) for state in self.optimizer.state.values()), default=0)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Its state as ``parameter.what``."""
        state = self.optimizer.state_dict()["state"]
        return {f"{i}.{what}": value for i, whole in state.items() for what, value in whole.items()}

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the state that :meth:`state_dict` returned; ``ValueError`` or ``IndexError`` if a tensor does not
        fit its parameter, which torch does not check."""
        parameters, state = self.optimizer.param_groups[0]["params"], dict[int, dict[str, torch.Tensor]]()
        for key, value in tensors.items():
            i, _, what = key.partition(".")
            parameter = parameters[int(i)]
            if value.ndim and value.shape != parameter.shape:
                raise ValueError(f"{key} of the optimizer has the shape {list(value.shape)}")
            state.setdefault(int(i), {})[what] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})


class Descent(SavedOptimizer):
    """The gradient steps of a network, by Adam, or with weight decay by AdamW; messages call it ``what``."""

    def __init__(self, network: nn.Module, what: str, decay: float = 0.0) -> None:
        kind = torch.optim.AdamW if decay else torch.optim.Adam
        device = next(network.parameters()).device
        self._network, self._what, self._on_gpu = network, what, device.type == "cuda"
        # A CUDA graph repeats the numbers of Python with which it was made: there the learning rate is a tensor.
        options: dict[str, Any] = {"lr": torch.tensor(0.0, device=device), "capturable": True} if self._on_gpu else {}
        super().__init__(kind(network.parameters(), weight_decay=decay, fused=True, **options))

    def step(self, loss: torch.Tensor, rate: float) -> float:
        """Takes a step at a learning rate, with the gradient of the loss, a scalar, clipped to a norm of 10, which
        before was as returned. ``FloatingPointError`` if the loss or its gradient is not finite, and the network has
        not changed; or if the norm of the weights is not finite after it."""
        length = self.slope(loss)
        if not (torch.isfinite(loss) and torch.isfinite(length)):  # a step would make the weights NaN
            raise FloatingPointError(f"the loss of {self._what} is {loss.item()}, and its gradient is {length.item()}")
        self.set_rate(rate)
        self.optimizer.step()
        size = nn.utils.get_total_norm([parameter.detach() for parameter in self._network.parameters()])
        if not torch.isfinite(size):  # the next games would be played, and a checkpoint saved, with these weights
            raise FloatingPointError(f"the norm of the weights of {self._what} is {size.item()}")
        return length.item()

    def slope(self, loss: torch.Tensor) -> torch.Tensor:
        """Computes the gradient of a loss, clipped; returns its norm before."""
        self.optimizer.zero_grad(set_to_none=not self._on_gpu)  # a CUDA graph writes to the same memory
        loss.backward()
        return nn.utils.clip_grad_norm_(self._network.parameters(), _LONGEST)

    def set_rate(self, rate: float) -> None:
        """Sets the learning rate."""
        group = self.optimizer.param_groups[0]
        if self._on_gpu:
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


@torch.no_grad()
def follow(average: nn.Module, network: nn.Module, share: float) -> None:
    """Moves the weights of ``average`` this share of the way to those of ``network``: it gets their average."""
    for old, new in zip(average.parameters(), network.parameters()):
        old.lerp_(new, share)


def batches_of(rows: np.ndarray, size: int) -> list[np.ndarray]:
    """Rows (N,) in batches of about one size, at least one batch."""
    return np.array_split(rows, max(1, round(len(rows) / size)))


def scalars_of(loss: torch.Tensor, errors: torch.Tensor, values: torch.Tensor, norm: float) -> dict[str, float]:
    """What a gradient step of values (B,) measured: its loss, the errors (B,), and the norm of its gradient."""
    error, value = errors.abs().mean().item(), values.mean().item()
    return {"loss": loss.item(), "TD error": error, "mean value": value, "gradient norm": norm}


def mean_of_steps(steps: Mapping[str, list[dict[str, float]]]) -> dict[str, float]:
    """The means of what gradient steps measured, by network: of all, and of each of several networks."""
    values: dict[str, list[float]] = {}
    for name, measured in steps.items():
        for step in measured:
            for key, value in step.items():
                values.setdefault(f"learning/{key}", []).append(value)
                if len(steps) > 1:
                    values.setdefault(f"networks/{name} {key}", []).append(value)
    return {tag: float(np.mean(found)) for tag, found in values.items()}
