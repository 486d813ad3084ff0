"""Compiles all CUDA kernels without a GPU, and reports registers and spills where there is NVIDIA's assembler.

``python -m tests.gpu_code``; exit status 1 if one does not compile.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba.cuda.compiler
import numba.cuda.dispatcher
import numpy as np
from numba import cuda
from numba.cuda.typing.typeof import typeof

from crib_env.gpu import check, threads
from crib_env.gpu.games import TensorGames
from crib_env.kernels import streams
from crib_env.train.shared.self_play import draw_cards

ARCHITECTURES = ((8, 0), (9, 0))


class Compiler:
    """Takes the place of launches: compiles each kernel for the types of its arguments, once."""

    def __init__(self) -> None:
        self.made: set[str] = set()
        self.faults = 0
        self.assembler = shutil.which("ptxas")

    def __call__(self, kernel: Any, n: int, block: int, *args: Any) -> None:
        name = kernel.py_func.__qualname__
        signature = tuple(typeof(arg) for arg in args)
        if (key := f"{name} {signature}") in self.made:
            return
        self.made.add(key)
        for architecture in ARCHITECTURES:
            begun = time.monotonic()
            # Device functions ask the current device for what it can do.
            device = partial(SimpleNamespace, compute_capability=architecture)
            numba.cuda.dispatcher.get_current_device = numba.cuda.compiler.get_current_device = device
            ptx, _ = cuda.compile_ptx(kernel.py_func, signature, cc=architecture)
            said = self.assemble(ptx, f"sm_{architecture[0]}{architecture[1]}")
            print(
                f"{name:45s} {architecture[0]}.{architecture[1]} {time.monotonic() - begun:5.1f} s  {said}", flush=True
            )

    def assemble(self, ptx: str, architecture: str) -> str:
        """What the assembler says of a kernel."""
        if self.assembler is None:
            return f"{len(ptx):,} characters"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "kernel.ptx")
            file.write_text(ptx)
            command = [self.assembler, f"-arch={architecture}", "-v", str(file), "-o", str(file.with_suffix(".cubin"))]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.faults += done.returncode != 0
        found = re.findall(r"Used \d+ registers|\d+ bytes spill stores|\d+ bytes smem|error.*|fatal.*", done.stderr)
        return ", ".join(found)


def main() -> int:
    """Goes through every kernel that the environments and the measurements launch."""
    compiler = Compiler()
    threads.SIMULATED, threads.launch = True, compiler
    kinds: list[dict[str, Any]] = [{"opponent": opponent} for opponent in check.NATIVE]
    for options in [*kinds, {"observation": "board"}, {"observation": "ranks"}]:
        learner = check.Learner("cuda", 256, **options)
        learner.envs.step(learner.choose())
        learner.on.run(check.add_all, 256, learner.envs.table, learner.envs.out, np.zeros(256, np.uint64))
    for native in check.NATIVE:
        check.Players("cuda", 256, native).play(1)
    games = TensorGames(streams(0, 256), "cuda", episode="deal", skip_forced=True, board=True)
    asked = games.asked()
    games.step(asked.gains.argmax(1))
    games.standings()
    draw_cards(games.on, asked.gains.double(), np.zeros(256))
    print(f"{len(compiler.made)} kernels, {compiler.faults} faults")
    return compiler.faults


if __name__ == "__main__":
    sys.exit(main())
