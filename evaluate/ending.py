"""How a command ends: with one line for bad input, Ctrl-C or SIGTERM, and an exit status."""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from crib_env.distribution import extra_of, missing

# Exit statuses, by which shells report a process that such a signal has ended.
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


class Terminated(KeyboardInterrupt):
    """SIGTERM: ends a command as Ctrl-C does, but only this process has received it, not its children."""


def printable(text: str) -> str:
    """Text with control characters escaped, as ``\\x1b``, so that it cannot control the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def reported_errors(on_interrupt: str = "stopped") -> Iterator[None]:
    """Surrounds every command: turns errors into one line on stderr and an exit status.

    Status 2 for bad input, errors of files, a package that is not installed and too little memory, 130 for Ctrl-C, 143
    for SIGTERM; rich ends a command whose output nobody reads with 1. Characters missing in the encoding of the output
    become question marks.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    with _terminable(), _quiet_threads():
        try:
            yield
            if sys.stdout is not None:  # as where a shell has closed it
                sys.stdout.flush()
        except (ValueError, FloatingPointError, OSError) as error:
            _end(f"error: {printable(str(error))}", 2)
        except ModuleNotFoundError as error:
            if extra_of(error.name) is None:
                raise
            _end(f"error: {missing('this', error)}", 2)
        except MemoryError as error:
            _end(f"error: there is not enough memory for this ({error})", 2)
        except KeyboardInterrupt as interrupt:
            _end(on_interrupt, TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED)


def _end(line: str, status: int) -> None:
    with suppress(OSError):
        print(line, file=sys.stderr)
    raise SystemExit(status) from None


@contextmanager
def _quiet_threads() -> Iterator[None]:
    """Prints nothing when a full disk ends a thread in the block; TensorBoard's writer raises it at the next value."""
    before = threading.excepthook

    def report(ended: threading.ExceptHookArgs) -> None:
        if not isinstance(ended.exc_value, OSError):
            before(ended)

    threading.excepthook = report
    try:
        yield
    finally:
        threading.excepthook = before


@contextmanager
def _terminable() -> Iterator[None]:
    """Inside the block, SIGTERM raises :class:`Terminated`."""
    if threading.current_thread() is not threading.main_thread():  # signals arrive in the main thread only
        yield
        return

    def terminate(number: int, frame: Any) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
