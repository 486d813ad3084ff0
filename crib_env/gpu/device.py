"""Where games live, and how kernels run there: on a processor for all rows, on a GPU with one thread a row.

Nothing of a rule is said here. numba-cuda compiles the same Python functions that Numba compiles for the processor.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

from crib_env.distribution import missing
from crib_env.options import OptionError

DEVICES = ("cpu", "cuda")
_ROWS = 8_192  # for which a thread is worth beginning


class Device:
    """A processor or the current GPU.

    Args:
        name: ``"cpu"`` or ``"cuda"``, or a ``torch.device`` of such a name.

    Raises:
        OptionError: there is no such device, or numba-cuda is not installed.
    """

    def __init__(self, name: Any) -> None:
        if str(name) not in DEVICES:
            raise OptionError(
                f"device={name!r} is not allowed: choose one of {', '.join(map(repr, DEVICES))}; "
                "CUDA_VISIBLE_DEVICES names another GPU"
            )
        self.on_gpu, simulated = str(name) == "cuda", False
        if self.on_gpu:
            try:
                version("numba-cuda")  # without it there is a former one in Numba
                from crib_env.gpu import threads
            except ImportError as error:
                raise OptionError(missing("device='cuda'", error, "gpu")) from None
            self._threads, simulated = threads, threads.SIMULATED
            if not simulated and not torch.cuda.is_available():
                raise OptionError("device='cuda' is not allowed: torch sees no GPU here")
        self.torch_device = torch.device("cuda" if self.on_gpu and not simulated else "cpu")

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> torch.Tensor:
        """A tensor of zeros of a NumPy type that torch knows."""
        of_torch = torch.from_numpy(np.empty(0, dtype)).dtype
        return torch.zeros(shape, dtype=of_torch, device=self.torch_device)

    def put(self, array: np.ndarray) -> torch.Tensor:
        """A copy of an array here."""
        return torch.from_numpy(array).to(self.torch_device, copy=True)

    def seen(self, tensor: torch.Tensor) -> Any:
        """A tensor as kernels take it: the same memory."""
        return self._threads.as_array(tensor) if self.torch_device.type == "cuda" else tensor.numpy()

    def run(self, kernel: Any, n: int, state: Any, *rest: Any) -> None:
        """Calls ``kernel(state, rows, *rest)`` for the rows 0 … n - 1.

        A processor takes as many threads as torch does (``torch.set_num_threads``). To a GPU the call is only sent, in
        order with torch's own work.
        """
        if self.on_gpu:
            threads = self._threads
            threads.launch(threads.each_row(kernel), n, threads.THREADS, n, state, rest)
            return
        parts = np.array_split(np.arange(n), max(1, min(torch.get_num_threads(), n // _ROWS)))
        if len(parts) == 1:
            kernel(state, parts[0], *rest)
            return
        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(lambda rows: kernel(state, rows, *rest), parts))

    def step(self, step_one: Any, show_one: Any, size: int, n: int, *args: Any) -> None:
        """A step of ``n`` games on a GPU; see :func:`crib_env.gpu.threads.stepping`."""
        threads = self._threads
        run = threads.stepping(step_one, show_one, size)
        threads.launch(run, n, threads.block_size(size), *args)

    def run_in_own_memory(self, kernel: Any, n: int, words: Any, *rest: Any) -> None:
        """Calls ``kernel(games, (0,), *rest)`` in each thread of a GPU, for its game alone, in memory of its own.

        Args:
            words: (n, words of a record) int64, the games.
        """
        threads = self._threads
        threads.launch(threads.in_own_memory(kernel), n, threads.THREADS, words, rest)
