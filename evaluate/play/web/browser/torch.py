"""In the place of torch in the browser: networks of layers that are all connected, with weights that are there.

Each layer is a kernel, :func:`crib_env.evaluate.play.web.fill_dense`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

inf = float("inf")


class Tensor:
    """See torch: an array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> Tensor:
        return Tensor(self.array[key])

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        return Tensor(self.array == other)

    def numpy(self) -> np.ndarray:
        return self.array

    def float(self) -> Tensor:
        return self

    def masked_fill(self, mask: Tensor, value: float) -> Tensor:
        filled = self.array.copy()
        filled[mask.array] = value
        return Tensor(filled)


class Module:
    def __call__(self, *arguments: Any) -> Any:
        return self.forward(*arguments)  # type: ignore[attr-defined]


class Linear(Module):
    def __init__(self, n_inputs: int, n_outputs: int) -> None:
        self.weight, self.bias = np.zeros((n_outputs, n_inputs), np.float32), np.zeros(n_outputs, np.float32)

    def forward(self, inputs: Tensor) -> Tensor:
        from crib_env.evaluate.play.web import fill_dense

        out = np.empty((len(inputs), len(self.bias)), np.float32)
        fill_dense(inputs.array, self.weight, self.bias, out)
        return Tensor(out)


class ReLU(Module):
    def forward(self, inputs: Tensor) -> Tensor:
        return Tensor(np.maximum(inputs.array, 0.0))


class Sequential(Module):
    def __init__(self, *layers: Module) -> None:
        self.layers = layers

    def forward(self, inputs: Tensor) -> Tensor:
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs


class ModuleDict(dict[str, Any], Module):
    """See torch."""


def from_numpy(array: np.ndarray) -> Tensor:
    return Tensor(array)


def pad(inputs: Tensor, by: tuple[int, ...]) -> Tensor:
    """See torch; batches of any size are the same here."""
    return inputs


def inference_mode() -> Callable[[Any], Any]:
    return lambda function: function


@contextmanager
def autocast(*_: object, **__: object) -> Iterator[None]:
    yield


nn = functional = sys.modules[f"{__name__}.nn"] = sys.modules[__name__]
