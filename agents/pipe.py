"""``pipe:COMMAND``: the player is a program in any language, which answers each line of JSON with one.

``docs/agents/programs.md`` describes the protocol for its authors. ``pipe:seconds=2 COMMAND`` sets the time limit.
"""

from __future__ import annotations

import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any

from crib_env.files.json_text import parse_json
from crib_env.players.agent import Powers
from crib_env.players.one_at_a_time import Decision, OneAtATime
from crib_env.players.text import as_json, read_answer

SECONDS, MOST_SECONDS = 10.0, 3_600.0
LONGEST = 1 << 16  # bytes of an answer
_LIMIT = "seconds="
_SHOWN = 60  # characters of an answer in an error
_FAREWELL = 1.0  # seconds between the end of a program's input and its own


def pipe_agent(text: str) -> OneAtATime:
    """The agent ``pipe:text``.

    Args:
        text: a command, in quotes as in a shell; it may begin with ``seconds=2``, the time limit of a decision.

    Raises:
        ValueError: there is no such program, or the time limit is not allowed.
    """
    if not hasattr(os, "killpg"):
        raise ValueError("agent 'pipe' needs process groups, which this system does not have")
    first, _, rest = text.partition(" ")
    has_limit = first.startswith(_LIMIT)
    try:
        seconds = float(first.removeprefix(_LIMIT)) if has_limit else SECONDS
        command = shlex.split(rest if has_limit else text)
    except ValueError as error:
        raise ValueError(f"agent 'pipe': {text!r} is not a command ({error})") from None
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"agent 'pipe': {first} is not allowed, give a number above 0, at most {MOST_SECONDS:g}")
    if not command:
        raise ValueError("agent 'pipe' needs a command: write pipe:COMMAND, as in 'pipe:perl bot.pl'")
    if shutil.which(command[0]) is None:
        raise ValueError(f"agent 'pipe': there is no program {command[0]!r} that can be run")
    return OneAtATime(PipePlayer(f"pipe:{text}", command, seconds))


class PipePlayer:
    """A player for :class:`crib_env.OneAtATime` that asks a program. An answer that cannot be used is an error."""

    powers = Powers(copyable=False)

    def __init__(self, name: str, command: Sequence[str], seconds: float) -> None:
        self.name = name
        self._command, self._seconds = command, seconds
        self._program: Program | None = None
        self._asked = 0

    def throw(self, view: Decision) -> tuple[int, ...]:
        """See :class:`crib_env.players.one_at_a_time.OneDecisionPlayer`."""
        return self._cards(view)

    def lay(self, view: Decision) -> int:
        """See :class:`crib_env.players.one_at_a_time.OneDecisionPlayer`."""
        return self._cards(view)[0]

    def _cards(self, view: Decision) -> tuple[int, ...]:
        self._asked += 1
        try:
            if self._program is None:
                self._program = Program(self._command)
            line = self._program.ask(json.dumps({"id": self._asked, **as_json(view)}).encode() + b"\n", self._seconds)
            try:
                number, cards = itemgetter("id", "cards")(parse_json(line))
                if number != self._asked:
                    raise ValueError(f"its id is {number}, not {self._asked}")
                return read_answer(" ".join(cards), view)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"gave {line[:_SHOWN].decode(errors='replace')!r} ({error})") from None
        except BaseException as error:  # Ctrl-C too: the program's answer would be taken for that to another line
            if self._program is not None:
                self._program.end()
                self._program = None  # the next decision starts it again
            if isinstance(error, (OSError, ValueError)):
                where = f"in game {view.game_id}, decision {view.decision}"
                raise ValueError(f"agent {self.name!r} {where}: {error}") from None
            raise


class Program:
    """A running program that answers each line with a line.

    It has a process group of its own, which Ctrl-C at the terminal does not reach. It ends with this object, and with
    Python.

    Args:
        command: the program and its arguments. No shell reads them.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        process = subprocess.Popen(
            command, bufsize=0, start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._input, self._output = (stream.fileno() for stream in (process.stdin, process.stdout) if stream)
        self._received = b""
        self.end = weakref.finalize(self, _end, process)
        """Closes its input, and kills what is still running a second later."""

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Sends a line, and returns the next line of the program's output.

        Args:
            line: ends with a line feed.
            seconds: the time limit.

        Raises:
            ValueError: it has ended, gives no line in time, or one that is too long.
        """
        deadline = time.monotonic() + seconds
        with suppress(BrokenPipeError):  # its output has ended too
            os.write(self._input, line)
        while b"\n" not in self._received:
            if len(self._received) > LONGEST:
                raise ValueError(f"gave a line of more than {LONGEST:,} bytes")
            if not select.select([self._output], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise ValueError(f"gave no answer within {seconds:g} s")
            received = os.read(self._output, LONGEST)
            if not received:
                raise ValueError("ended")
            self._received += received
        answer, _, self._received = self._received.partition(b"\n")
        return answer


def _end(process: Any) -> None:
    process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_FAREWELL)
    with suppress(ProcessLookupError, PermissionError):  # macOS forbids it for a group that has ended
        os.killpg(process.pid, signal.SIGKILL)  # its children, too
    process.wait()
    process.stdout.close()
