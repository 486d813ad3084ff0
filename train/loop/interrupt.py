"""Ctrl-C and SIGTERM, deferred until a learner has a state to save."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crib_env.evaluate.ending import output_failure


class Interrupt:
    """Requests to stop a run."""

    signalled = False

    @property
    def asked(self) -> bool:
        """Whether there was Ctrl-C or SIGTERM, or the output can no longer be written."""
        return self.signalled or output_failure() is not None


@contextmanager
def put_off_interrupts() -> Iterator[Interrupt]:
    """Defers Ctrl-C and SIGTERM inside the block; a second one stops at once. At the end a deferred one is raised."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():  # signals arrive in the main thread only
        yield interrupt
        return

    def note(number: int, frame: Any) -> None:
        if interrupt.signalled:
            raise KeyboardInterrupt
        interrupt.signalled = True

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if interrupt.asked:
        raise KeyboardInterrupt
