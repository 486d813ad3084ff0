"""Ctrl-C, put off until a learner has a state worth keeping."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupt:
    """Whether Ctrl-C has been pressed."""

    asked = False


@contextmanager
def put_off_interrupts() -> Iterator[Interrupt]:
    """Inside, Ctrl-C only notes itself; a second one stops at once. At the end one that was noted is raised."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():  # only there do signals arrive
        yield interrupt
        return

    def note(number: int, frame: Any) -> None:
        if interrupt.asked:
            raise KeyboardInterrupt
        interrupt.asked = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupt.asked:
        raise KeyboardInterrupt
