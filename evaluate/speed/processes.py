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

from crib_env.evaluate.speed.measuring import ROUNDS
from crib_env.evaluate.speed.vector import GAMES, RandomPlay

SIZES = (1, 1_000, 100_000, 1_000_000)
STEPS = 100_000_000
_MARKS = 10  # measurements during STEPS
CALLS = len(SIZES) + 1 + _MARKS  # calls of on_progress, in both functions together
_STATUS = Path("/proc/self/status")  # Linux; a child's getrusage() would report its parent's peak
_WARM_UP = 2_000_000  # steps after which every buffer and pool has its size
_FIRST_ENV = "import crib_env; e = crib_env.env(); e.reset(seed=0); e.step(int(e.last()[0]['action_mask'].argmax()))"
_MAIN_JOB = (
    "import tempfile, pathlib; from rich.progress import Progress; from dataclasses import replace\n"
    "from crib_env.train.ddqn import PRESETS, train; from crib_env.train.loop.run_folder import RunFolder\n"
    "few = dict(episodes=2, episodes_at_once=2, warm_up=1, evaluations=1, evaluation_games=2)\n"
    "s = replace(PRESETS['default'], **few)\n"
    "with tempfile.TemporaryDirectory() as d, Progress(disable=True) as p:\n"
    "    train(s, RunFolder.create('ddqn', s, pathlib.Path(d)), p)\n"
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
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = Path(folder, "cold"), Path(folder, "warm")
        times = {"everything the main job compiles, cold cache": [_start_up(_MAIN_JOB, cold)]}
        times["the same, warm cache"] = [_start_up(_MAIN_JOB, cold) for _ in range(3)]
        _start_up(_FIRST_ENV, warm)
        times["Python alone"] = [_start_up("pass", warm) for _ in range(ROUNDS)]
        times["import crib_env"] = [_start_up("import crib_env", warm) for _ in range(ROUNDS)]
        times["import and a first environment, reset and stepped"] = [
            _start_up(_FIRST_ENV, warm) for _ in range(ROUNDS)
        ]
    return times
