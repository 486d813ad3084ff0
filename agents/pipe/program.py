"""A running program that answers each line with a line; whatever it does, nobody waits longer than the time limit."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

Kind = Literal["illegal", "unreadable", "late", "ended"]
LONGEST = 1 << 16  # bytes of an answer
_PIPE = 1 << 20  # bytes, at least what a pipe holds
_LAST_WORDS = 2_000  # bytes of standard error that are kept
_FAREWELL = 1.0  # seconds between the end of a program's input and its own


class FaultError(Exception):
    """Why there is no answer to use."""

    def __init__(self, kind: Kind, fault: str) -> None:
        super().__init__(fault)
        self.kind = kind


class Program:
    """Starts a program, in a process group of its own; Ctrl-C at the terminal does not reach it.

    It ends with this object, and with Python.

    Args:
        command: the program and its arguments. No shell reads them.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._input, self._output, self._errors = (
            stream.fileno() for stream in (process.stdin, process.stdout, process.stderr)
        )
        os.set_blocking(self._input, False)  # a program that does not read must not stop us
        os.set_blocking(self._errors, False)
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._output, selectors.EVENT_READ)
        self._ready.register(self._errors, selectors.EVENT_READ)
        self._group = process.pid
        self._received, self._last_words = b"", b""
        self.end = weakref.finalize(self, _end, process, self._ready)
        """Closes its input, and kills what is still running a second later."""

    @property
    def is_running(self) -> bool:
        """Whether it has not been ended or killed from here."""
        return self.end.alive

    @property
    def last_words(self) -> str:
        """The end of what it has written to standard error."""
        return self._last_words.decode(errors="replace").strip()

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Sends a line, and returns the next line of the program's output.

        Without an answer the program is killed: what it may still say would be taken for the answer to another line.

        Args:
            line: ends with a line feed.
            seconds: the time limit.

        Raises:
            FaultError: it has ended, gives no line in time, or one that is too long.
        """
        try:
            return self._ask(line, seconds)
        except BaseException:  # Ctrl-C too
            self.kill()
            raise

    def kill(self) -> None:
        """Ends the program at once."""
        if self.is_running:
            _kill(self._group)
            with suppress(BlockingIOError):  # nothing more to read
                self._hear(os.read(self._errors, _PIPE))
            self.end()

    def _ask(self, line: bytes, seconds: float) -> bytes:
        deadline = time.monotonic() + seconds
        try:
            sent = os.write(self._input, line)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:
            raise FaultError("ended", "ended") from None
        if sent < len(line):
            raise FaultError("late", "does not read its input")
        while b"\n" not in self._received and len(self._received) <= LONGEST:
            left = deadline - time.monotonic()
            ready = [key.fd for key, _ in self._ready.select(left)] if left > 0 else []
            if not ready:
                raise FaultError("late", f"gave no answer within {seconds:g} s")
            if self._errors in ready:
                self._read_errors()
            if self._output in ready:
                received = os.read(self._output, LONGEST)
                if not received:
                    raise FaultError("ended", "ended")
                self._received += received
        answer, _, self._received = self._received.partition(b"\n")
        if len(answer) > LONGEST:
            raise FaultError("unreadable", f"gave a line of more than {LONGEST:,} bytes")
        return answer

    def _read_errors(self) -> None:
        said = os.read(self._errors, LONGEST)
        if said:
            self._hear(said)
        else:  # closed: it would be ready for ever
            self._ready.unregister(self._errors)

    def _hear(self, said: bytes) -> None:
        self._last_words = (self._last_words + said)[-_LAST_WORDS:]


def _end(process: subprocess.Popen[bytes], ready: selectors.BaseSelector) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.close()
    ready.close()
    deadline = time.monotonic() + _FAREWELL
    with selectors.DefaultSelector() as farewell:  # its output ends with the last process of the group
        farewell.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0 and farewell.select(left):
            if not os.read(process.stdout.fileno(), LONGEST):
                break
    _kill(process.pid)  # before wait, after which the number may belong to somebody else
    process.wait()
    process.stdout.close()
    process.stderr.close()


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS forbids it for a group that has ended
        os.killpg(group, signal.SIGKILL)
