"""Where games live, and how kernels run there: on a processor for all rows, on a GPU with one thread a row.

Nothing of a rule is said here. numba-cuda compiles the same Python functions that Numba compiles for the processor.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

from crib_env.cards import N_CARDS, name_card
from crib_env.distribution import missing
from crib_env.options import OptionError

DEVICES = ("cpu", "cuda")
_ROWS = 8_192  # for which a thread is worth beginning


class Device:
    """A processor or the current GPU, by its name for torch; ``OptionError`` if there is none, or no numba-cuda.

    ``threads`` is :mod:`crib_env.gpu.threads` on a GPU, and ``None`` on a processor.
    """

    def __init__(self, name: Any) -> None:
        if str(name) not in DEVICES:
            raise OptionError(
                f"device={name!r} is not allowed: choose one of {', '.join(map(repr, DEVICES))}; "
                "CUDA_VISIBLE_DEVICES names another GPU"
            )
        self.threads: Any = None
        if str(name) == "cuda":
            try:
                version("numba-cuda")  # without it there is a former one in Numba
                from crib_env.gpu import threads
            except ImportError as error:
                raise OptionError(missing("device='cuda'", error, "gpu")) from None
            if not threads.SIMULATED and not torch.cuda.is_available():
                raise OptionError("device='cuda' is not allowed: torch sees no GPU here")
            self.threads = threads
        self.torch_device = torch.device("cuda" if self.threads and not self.threads.SIMULATED else "cpu")

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> torch.Tensor:
        """A tensor of zeros of a NumPy type that torch knows."""
        of_torch = torch.from_numpy(np.empty(0, dtype)).dtype
        return torch.zeros(shape, dtype=of_torch, device=self.torch_device)

    def put(self, array: np.ndarray) -> torch.Tensor:
        """A copy of an array here."""
        return torch.from_numpy(array).to(self.torch_device, copy=True)

    def seen(self, tensor: torch.Tensor) -> Any:
        """A tensor as kernels take it: the same memory."""
        return self.threads.cuda.as_cuda_array(tensor) if self.torch_device.type == "cuda" else tensor.numpy()

    def run(self, kernel: Any, n: int, state: Any, *rest: Any) -> None:
        """Calls ``kernel(state, rows, *rest)`` for the rows 0 … n - 1.

        A processor takes as many threads as torch does (``torch.set_num_threads``). To a GPU the call is only sent, in
        order with torch's own work.
        """
        if self.threads:
            self.threads.launch(self.threads.each_row(kernel), n, self.threads.THREADS, n, state, rest)
            return
        parts = np.array_split(np.arange(n), max(1, min(torch.get_num_threads(), n // _ROWS)))
        if len(parts) == 1:
            kernel(state, parts[0], *rest)
            return
        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(lambda rows: kernel(state, rows, *rest), parts))


def refuse_illegal(rows: torch.Tensor, cards: torch.Tensor, values: torch.Tensor, none: float) -> None:
    """Raises ``ValueError`` if one of B cards in the games ``rows`` has the value ``none`` among ``values`` (N, 52)."""
    known = (cards >= 0) & (cards < N_CARDS)
    bad = ~known | (values[rows, cards.clamp(0, N_CARDS - 1)] == none)
    if bad.any():
        first = int(bad.int().argmax())
        raise ValueError(f"game {int(rows[first])}: {name_card(int(cards[first]))} is not a legal action")
