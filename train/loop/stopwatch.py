"""A stopwatch that adds up time."""

from __future__ import annotations

import time


class Stopwatch:
    """``with watch:`` adds the time spent inside to ``seconds``."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._started
