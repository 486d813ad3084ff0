"""``pipe:COMMAND``: the player is a program in any language, which answers each line of JSON with one.

``docs/agents/programs.md`` describes the protocol for its authors. ``pipe:seconds=2 COMMAND`` sets the time limit.
"""

from __future__ import annotations

import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from crib_env.cards import format_cards, parse_cards
from crib_env.files.json_text import parse_json
from crib_env.players.agent import Powers
from crib_env.players.one_at_a_time import Decision, OneAtATime
from crib_env.players.text import as_json
from crib_env.values import typed

SECONDS, MOST_SECONDS = 10.0, 3_600.0
RESTARTS = 5
LONGEST = 1 << 16  # bytes of an answer
_LIMIT = "seconds="
_PIPE = 1 << 20  # bytes, at least what a pipe holds
_LAST_WORDS = 2_000  # bytes of standard error that are kept
_FAREWELL = 1.0  # seconds between the end of a program's input and its own


class _Answer(NamedTuple):
    """What a program answers: the number of the request, and one card, or two for a discard."""

    id: int
    cards: tuple[str, ...]


def pipe_agent(text: str) -> OneAtATime:
    """The agent ``pipe:text``.

    Args:
        text: a command, in quotes as in a shell; it may begin with ``seconds=2``, the time limit of a decision.

    Raises:
        ValueError: there is no such program, or the time limit is not allowed.
    """
    if not hasattr(os, "killpg"):
        raise ValueError("agent 'pipe' needs process groups, which this system does not have")
    try:
        command, seconds = shlex.split(text), SECONDS
    except ValueError as error:
        raise ValueError(f"agent 'pipe': {text!r} is not a command ({error})") from None
    if command and command[0].startswith(_LIMIT):
        given, seconds = command.pop(0).removeprefix(_LIMIT), 0.0
        with suppress(ValueError):
            seconds = float(given)
        if not 0 < seconds <= MOST_SECONDS:
            allowed = f"give a number above 0, at most {MOST_SECONDS:g}"
            raise ValueError(f"agent 'pipe': seconds={given!r} is not allowed, {allowed}")
    if not command:
        raise ValueError("agent 'pipe' needs a command: write pipe:COMMAND, as in 'pipe:perl bot.pl'")
    if shutil.which(command[0]) is None:
        raise ValueError(f"agent 'pipe': there is no program {command[0]!r} that can be run")
    return OneAtATime(PipePlayer(f"pipe:{text}", command, seconds))


class PipePlayer:
    """A player for :class:`crib_env.OneAtATime` that asks a program.

    In place of an answer that cannot be used, the first legal cards are taken and the fault is counted. After any fault
    but an illegal card the program is started again, at most ``RESTARTS`` times; then it forfeits, with an error.

    Attributes:
        faults: how many decisions were taken for the program, by kind of fault.
    """

    powers = Powers(copyable=False, counts_faults=True)

    def __init__(self, name: str, command: Sequence[str], seconds: float) -> None:
        self.name = name
        self.faults: Counter[str] = Counter()
        self._command, self._seconds = command, seconds
        self._program: Program | None = None
        self._asked = 0

    def throw(self, view: Decision) -> tuple[int, ...]:
        """See :class:`crib_env.players.one_at_a_time.OneDecisionPlayer`."""
        return self._cards(as_json(view), view.hand, 2)

    def lay(self, view: Decision) -> int:
        """See :class:`crib_env.players.one_at_a_time.OneDecisionPlayer`."""
        return self._cards(as_json(view), view.legal, 1)[0]

    def _cards(self, asked: dict[str, Any], legal: tuple[int, ...], n: int) -> tuple[int, ...]:
        if self._program is None or not self._program.end.alive:
            try:
                self._program = Program(self._command)
            except OSError as error:
                raise ValueError(f"agent {self.name!r} cannot be started ({error})") from None
        try:
            return self._answer(self._program, asked, legal, n)
        except FaultError as fault:
            instead = legal[:n]
            self._note(fault, self._program, f"in game {asked['game_id']}, decision {asked['decision']}", instead)
            return instead

    def _answer(self, program: Program, asked: dict[str, Any], legal: tuple[int, ...], n: int) -> tuple[int, ...]:
        self._asked += 1
        line = program.ask(json.dumps({"id": self._asked, **asked}).encode() + b"\n", self._seconds)
        shown, kind = repr(line[:60].decode(errors="replace")), "unreadable"
        try:
            answer: _Answer = typed(parse_json(line), _Answer, "the answer")
            if answer.id != self._asked:
                raise ValueError(f"its id is {answer.id}, not {self._asked}")
            kind = "illegal"
            cards = parse_cards(answer.cards)
        except ValueError as error:
            raise FaultError(kind, f"gave {shown} ({error})") from None
        if len(cards) != n or not set(cards) <= set(legal):
            allowed = f"{('one', 'two')[n - 1]} of {format_cards(legal)}"
            raise FaultError("illegal", f"gave {' '.join(answer.cards) or 'no card'}, allowed: {allowed}")
        return tuple(cards)

    def _note(self, fault: FaultError, program: Program, where: str, instead: tuple[int, ...]) -> None:
        """Counts a fault, and warns of the first of its kind.

        Raises:
            ValueError: the program forfeits.
        """
        self.faults[fault.kind] += 1
        said = f"agent {self.name!r} {fault} {where}"
        if fault.kind != "illegal":
            program.kill()
            if self.faults.total() - self.faults["illegal"] > RESTARTS:
                last = program.last_words
                errors = f"its standard error ends with:\n{last}" if last else "its standard error is empty"
                raise ValueError(f"{said}, and forfeits: it was started again {RESTARTS} times; {errors}")
        if self.faults[fault.kind] == 1:
            warnings.warn(f"{said}: {format_cards(instead)} in its place; more of these are only counted", stacklevel=2)


class FaultError(Exception):
    """Why there is no answer to use; ``kind`` is ``"illegal"``, ``"unreadable"``, ``"late"`` or ``"ended"``."""

    def __init__(self, kind: str, fault: str) -> None:
        super().__init__(fault)
        self.kind = kind


class Program:
    """A running program that answers each line with a line; whatever it does, nobody waits longer than the time limit.

    It has a process group of its own, which Ctrl-C at the terminal does not reach. It ends with this object, and with
    Python.

    Args:
        command: the program and its arguments. No shell reads them.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen(command, bufsize=0, start_new_session=True, **streams)
        self._input, self._output, self._errors = (getattr(process, name).fileno() for name in streams)
        os.set_blocking(self._input, False)  # a program that does not read must not stop us
        os.set_blocking(self._errors, False)
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._output, selectors.EVENT_READ)
        self._ready.register(self._errors, selectors.EVENT_READ)
        self._group = process.pid
        self._received, self._last_words = b"", b""
        self.end = weakref.finalize(self, _end, process, self._ready)
        """Closes its input, and kills what is still running a second later; ``end.alive`` is false after that."""

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
        if self.end.alive:
            _kill(self._group)
            with suppress(BlockingIOError):  # nothing more to read
                self._hear(os.read(self._errors, _PIPE))
            self.end()

    def _ask(self, line: bytes, seconds: float) -> bytes:
        deadline, sent = time.monotonic() + seconds, 0
        try:
            with suppress(BlockingIOError):
                sent = os.write(self._input, line)
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
                if said := os.read(self._errors, LONGEST):
                    self._hear(said)
                else:  # closed: it would be ready for ever
                    self._ready.unregister(self._errors)
            if self._output in ready:
                received = os.read(self._output, LONGEST)
                if not received:
                    raise FaultError("ended", "ended")
                self._received += received
        answer, _, self._received = self._received.partition(b"\n")
        if len(answer) > LONGEST:
            raise FaultError("unreadable", f"gave a line of more than {LONGEST:,} bytes")
        return answer

    def _hear(self, said: bytes) -> None:
        self._last_words = (self._last_words + said)[-_LAST_WORDS:]


def _end(process: Any, ready: selectors.BaseSelector) -> None:
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
