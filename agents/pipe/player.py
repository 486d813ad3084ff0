"""``pipe:COMMAND``: the player is a program, which gets a line of JSON for each decision and answers with one.

``docs/agents/programs.md`` describes the protocol for its authors. ``pipe:seconds=2 COMMAND`` sets the time limit.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from crib_env.agents.pipe.program import FaultError, Program
from crib_env.cards import format_cards, parse_cards
from crib_env.files.json_text import parse_json
from crib_env.players.agent import Powers
from crib_env.players.one_at_a_time import Decision, OneAtATime
from crib_env.text.position import as_json
from crib_env.values import typed

SECONDS, MOST_SECONDS = 10.0, 3_600.0
RESTARTS = 5
_LIMIT = "seconds="


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
        seconds = _read_seconds(command.pop(0).removeprefix(_LIMIT))
    if not command:
        raise ValueError("agent 'pipe' needs a command: write pipe:COMMAND, as in 'pipe:perl bot.pl'")
    if shutil.which(command[0]) is None:
        raise ValueError(f"agent 'pipe': there is no program {command[0]!r} that can be run")
    return OneAtATime(PipePlayer(f"pipe:{text}", command, seconds))


def _read_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(
            f"agent 'pipe': seconds={text!r} is not allowed, give a number above 0, at most {MOST_SECONDS:g}"
        )
    return seconds


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
        if self._program is None or not self._program.is_running:
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
        try:
            answer: _Answer = typed(parse_json(line), _Answer, "the answer")
            if answer.id != self._asked:
                raise ValueError(f"its id is {answer.id}, not {self._asked}")
        except ValueError as error:
            raise FaultError("unreadable", f"gave {_shown(line)} ({error})") from None
        try:
            cards = parse_cards(answer.cards)
        except ValueError as error:
            raise FaultError("illegal", f"gave {_shown(line)} ({error})") from None
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


def _shown(line: bytes) -> str:
    """The beginning of an answer, for an error."""
    return repr(line[:60].decode(errors="replace"))
