"""What a model was asked and has answered, kept in a file, so that no question is paid for twice."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from crib_env.files.json_text import parse_json
from crib_env.files.whole_file import add_lines
from crib_env.values import typed


class Exchange(NamedTuple):
    """One call: a line of the file."""

    question: str
    """Hash of all that was sent, and where to."""
    sent: dict[str, Any]
    """The model, its settings and the messages."""
    answer: str | None
    """``None`` if there was none."""
    end: str | None
    """Why the answer ended: ``"stop"`` if it is whole."""
    tokens: int
    """Of the question and the answer, as the endpoint counts them."""
    seconds: float
    fault: str | None
    """Why there is no answer."""


def line_of(exchange: Exchange) -> str:
    """An exchange as a line of the file; halves of surrogate pairs, which no file can hold, become question marks."""
    return json.dumps(exchange._asdict(), ensure_ascii=False).encode(errors="replace").decode()


def exchange_of(line: str | bytes) -> Exchange:
    """The exchange in a line.

    Raises:
        ValueError: there is none; the message says why.
    """
    return typed(parse_json(line), Exchange)


class KeptExchanges:
    """The exchanges in a file; :func:`kept_in` opens one.

    Args:
        file: JSON lines; a last line that was not finished is cut off.

    Attributes:
        answers: the exchanges with answers, by question.
        calls, tokens: how many there are in all.

    Raises:
        ValueError: the file is something else, or cannot be written; the message names it.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.answers: dict[str, Exchange] = {}
        self.calls = self.tokens = 0
        file.parent.mkdir(parents=True, exist_ok=True)
        add_lines(file, ())  # it can be written
        content = file.read_bytes()
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                self._count(exchange_of(line))
            except ValueError as error:
                raise ValueError(f"{file}, line {number} is no exchange with a model ({error})") from None
        if whole < len(content):
            with open(file, "rb+") as open_file:
                open_file.truncate(whole)

    def add(self, exchange: Exchange) -> None:
        """Keeps an exchange, on the disk first."""
        add_lines(self.file, [line_of(exchange)])
        self._count(exchange)

    def _count(self, exchange: Exchange) -> None:
        self.calls += 1
        self.tokens += exchange.tokens
        if exchange.answer is not None:
            self.answers.setdefault(exchange.question, exchange)


@cache
def kept_in(file: Path) -> KeptExchanges:
    """The exchanges in a file; agents of one process that use the same file share them."""
    return KeptExchanges(file)
