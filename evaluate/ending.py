"""How a command ends: with one line for bad input, Ctrl-C, SIGTERM or a closed output, and without losing work."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from crib_env.distribution import extra_of, missing

# Exit statuses, by which shells report a process that such a signal has ended.
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


class Terminated(KeyboardInterrupt):
    """SIGTERM: ends a command as Ctrl-C does, but only this process has received it, not its children."""


def printable(text: str) -> str:
    """Text with control characters escaped, as ``\\x1b``, so that it cannot control the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


class LastingOutput:
    """Standard output that never raises: work continues, and later output is lost.

    Characters missing in the encoding are replaced by a question mark.

    Args:
        stream: standard output; ``None`` where a shell has closed it, as by ``>&-``, so that nobody wants the output.

    Attributes:
        failure: the error after which nothing can be printed, such as a closed pipe or a full disk; else ``None``.
    """

    def __init__(self, stream: TextIO | None) -> None:
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- it stays open
        self._stream = stream
        self.failure: OSError | None = None
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")

    def write(self, text: str) -> int:
        """As for any text file."""
        if self.failure is None:
            try:
                return self._stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """As for any text file."""
        if self.failure is None:
            try:
                self._stream.flush()
            except OSError as error:
                self._give_up(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _give_up(self, error: OSError) -> None:
        self.failure = error
        with suppress(OSError):  # else Python would try to write the rest at exit; not every stream has a number
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


def output_failure() -> OSError | None:
    """The error after which nothing can be printed any more, ``None`` if there was none."""
    return getattr(sys.stdout, "failure", None)


@contextmanager
def reported_errors(on_interrupt: str = "stopped") -> Iterator[None]:
    """Surrounds every command: turns errors into one line on stderr and an exit status.

    Status 2 for bad input, errors of files, a package that is not installed and too little memory, 130 for Ctrl-C, 143
    for SIGTERM, 1 for output that cannot be written.
    """
    with _lasting_output(), _terminable(), _quiet_threads():
        try:
            yield
            sys.stdout.flush()
        except (ValueError, FloatingPointError, OSError) as error:
            _say(f"error: {printable(str(error))}")
            raise SystemExit(2) from None
        except ModuleNotFoundError as error:
            if extra_of(error.name) is None:
                raise
            _say(f"error: {missing('this', error)}")
            raise SystemExit(2) from None
        except MemoryError as error:
            _say(f"error: there is not enough memory for this ({error})")
            raise SystemExit(2) from None
        except KeyboardInterrupt as interrupt:
            if (failure := output_failure()) is None:
                _say(on_interrupt)
                raise SystemExit(TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED) from None
            _say(f"{_in_words(failure)}: {on_interrupt}")
            raise SystemExit(1) from None
        if (failure := output_failure()) is not None:
            if not isinstance(failure, BrokenPipeError):  # for example `head`, which has read enough
                _say(f"error: {_in_words(failure)}")
            raise SystemExit(1)


def _in_words(failure: OSError) -> str:
    if isinstance(failure, BrokenPipeError):
        return "nobody reads the output any more"
    return f"the output cannot be written ({failure.strerror})"


def _say(line: str) -> None:
    with suppress(OSError):
        print(line, file=sys.stderr)


@contextmanager
def _lasting_output() -> Iterator[None]:
    before = sys.stdout
    if not isinstance(before, LastingOutput):
        sys.stdout = cast(TextIO, LastingOutput(before))
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stdout = before


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
