"""What a process takes: memory of the vector environment, by games and over many steps, and the time to start."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from crib_env.evaluate.speed.games import GAMES, RandomPlay
from crib_env.evaluate.speed.measuring import ROUNDS

SIZES = (1, 1_000, 100_000, 1_000_000)
STEPS = 100_000_000
_MARKS = 10  # measurements during STEPS
CALLS = len(SIZES) + 1 + _MARKS  # calls of on_progress, in both functions together
_STATUS = Path("/proc/self/status")  # Linux; a child's getrusage() would report its parent's peak
_WARM_UP = 2_000_000  # steps after which every buffer and pool has its size
_FIRST_ENV = "import crib_env; e = crib_env.env(); e.reset(seed=0); e.step(int(e.last()[0]['action_mask'].argmax()))"
_FIRST_VECTOR = (
    f"{_FIRST_ENV}; import gymnasium; v = gymnasium.make_vec('crib_env/Cribbage-v0', 8, 'vector_entry_point')\n"
    "v.step(v.reset(seed=0)[0]['action_mask'].argmax(axis=1))"
)


def can_be_measured() -> bool:
    """Whether this system reports a process's memory."""
    return _STATUS.exists()


def _resident(field: str) -> int:
    """Bytes in memory of this process: ``VmRSS`` now, or ``VmHWM`` at most so far."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def _play_and_report(n: int) -> tuple[int, int]:
    """Memory of this fresh process before it plays ``n`` games side by side, and its maximum while it plays them."""
    RandomPlay(1).run(calls=10)  # loads the kernels
    before = _resident("VmRSS")
    RandomPlay(n).run(calls=10)
    return before, _resident("VmHWM")


def memory_by_games(on_progress: Callable[[str], None]) -> dict[int, tuple[int, int]]:
    """Bytes of a process without games and at most with them, by the number of games; each in a fresh process."""
    taken = {}
    for n in SIZES:
        on_progress(f"memory of {n:,} games")
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            taken[n] = pool.apply(_play_and_report, (n,))
    return taken


def memory_over_steps(on_progress: Callable[[str], None]) -> dict[int, int]:
    """Bytes of this process by steps played: after the warm-up, and at regular intervals during ``STEPS`` more."""
    play = RandomPlay(GAMES)
    played, resident = 0, {}
    for mark in (_WARM_UP, *(_WARM_UP + STEPS * k // _MARKS for k in range(1, _MARKS + 1))):
        while played < mark:
            played += play.run()
        resident[played] = _resident("VmRSS")
        on_progress(f"memory after {played:,} steps")
    return resident


def _start_up(code: str, cache: Path) -> float:
    """Seconds that a fresh Python takes for some code, with Numba's cache in the folder ``cache``."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(cache)})
    return time.perf_counter() - started


def start_times() -> dict[str, list[float]]:
    """Seconds by what is started, with cold and warm caches of compiled kernels."""
    times: dict[str, list[float]] = {"Python alone": [_start_up("pass", Path()) for _ in range(ROUNDS)]}
    first = {"a first environment, reset and stepped": _FIRST_ENV, "and a first vector environment": _FIRST_VECTOR}
    for name, code in first.items():
        with tempfile.TemporaryDirectory() as folder:
            times[f"{name}, cold cache"] = [_start_up(code, Path(folder))]
            times[f"{name}, warm cache"] = [_start_up(code, Path(folder)) for _ in range(ROUNDS)]
    return times
