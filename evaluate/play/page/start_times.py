"""How soon the page is ready: the command `play` in a new process, measured from its start."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from crib_env.evaluate.play.page.reply_times import PageLink
from crib_env.evaluate.play.page.server import page_files

ROOT = Path(__file__).parents[3]


class StartTimes(NamedTuple):
    """Seconds since the start of the command, and what it used."""

    server: float
    """Its address is printed: the server is up."""
    page: float
    """All files of the page and its first message have been answered."""
    warm: float
    """All kernels are compiled or loaded, the agent and the coach are there."""
    processor: float
    """Processor seconds until then."""


def measure_start(agent: str, kernels: Path) -> StartTimes:
    """Starts the command and asks for the page, as a browser does.

    Args:
        agent: the opponent.
        kernels: folder of compiled kernels; in an empty one all are compiled.
    """
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(kernels), "CRIB_ENV_QUIET": "1"}
    command = [sys.executable, "-u", "-m", "crib_env.evaluate", "play", agent, "--no-browser"]
    used, started = _processor_seconds(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            if found is None:
                raise ValueError(f"the command has ended: {' '.join(command[2:])}")
            server = time.perf_counter() - started
            link = PageLink(found[0])
            for name in page_files():
                link.get(name)
            link.ask("lobby", {})
            page = time.perf_counter() - started
            while not link.ask("lobby", {})["warm"]:
                time.sleep(0.1)
            warm = time.perf_counter() - started
        finally:
            process.terminate()
            process.wait()
    return StartTimes(server, page, warm, _processor_seconds() - used)


def _processor_seconds() -> float:
    """Of processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
