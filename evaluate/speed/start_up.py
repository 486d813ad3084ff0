"""Start-up time of a fresh Python process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from crib_env.evaluate.speed.measuring import ROUNDS

_FIRST_ENV = "import crib_env; e = crib_env.env(); e.reset(seed=0); e.step(int(e.last()[0]['action_mask'].argmax()))"
_MAIN_JOB = (
    "import tempfile, pathlib; from rich.progress import Progress; from dataclasses import replace\n"
    "from crib_env.train.ddqn import PRESETS, train; from crib_env.train.loop.run_folder import RunFolder\n"
    "few = dict(episodes=2, episodes_at_once=2, warm_up=1, evaluations=1, evaluation_games=2)\n"
    "s = replace(PRESETS['default'], **few)\n"
    "with tempfile.TemporaryDirectory() as d, Progress(disable=True) as p:\n"
    "    train(s, RunFolder.create('ddqn', s, pathlib.Path(d)), p)\n"
)


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
