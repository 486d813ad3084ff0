"""``llm:model=NAME``: a language model plays, asked in words over an endpoint that speaks OpenAI's protocol.

``docs/agents/language-models.md`` shows how. What a model was asked and has answered is kept in a file, so that no
question is paid for twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import ssl
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from crib_env.cards import parse_cards
from crib_env.files.json_text import parse_json
from crib_env.files.whole_file import add_lines
from crib_env.players.agent import Powers
from crib_env.players.one_at_a_time import Decision, decisions
from crib_env.players.text import LONGEST, RULES, answers, how_to_answer, in_words, read_answer, to_discard
from crib_env.values import typed
from crib_env.views import PlayerViews

KEY = "OPENAI_API_KEY"
"""The environment variable with the key, for endpoints that ask for one."""
OPENAI = "https://api.openai.com/v1"
FOLDER = Path("runs/llm")
Schema = Literal["no", "json_schema", "json_object"]
Messages = tuple[dict[str, str], ...]
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds before a call is made again; the wait doubles
_LARGEST = 1 << 24  # bytes of what an endpoint sends
_SHOWN = 300  # characters of an endpoint's error
_PART = 4  # characters of the key, in a row, that are not shown
_REPEATED = 1_000  # characters of an answer that could not be used, as the model is shown it again

_SIX, _FOUR = tuple(parse_cards("5C JD 2H 5H QS KS")), tuple(parse_cards("5C JD 5H QS"))
_DISCARD = Decision(_SIX, (), (), (), None, (), (), (), 0, (False, False), (0, 0), False, 6, 0, 0)
_LEAD = replace(_DISCARD, hand=_FOUR, legal=_FOUR, discards=(_SIX[2], _SIX[5]), starter=_SIX[0] - 1, opponent_cards=4)
EXAMPLES = ((_DISCARD, "2H KS"), (_LEAD, "JD"))
"""A discard and a card of the play, each with a good answer."""
SYSTEM = f"You play two-player cribbage, and choose what wins the game most often. The rules:\n{RULES}"
"""What a model is told before each decision."""


def question(view: Decision, example: bool = False, in_json: bool = False) -> Messages:
    """What a model is asked about a decision.

    Args:
        example: whether an answered question of the same kind comes first.
        in_json: whether the answer is JSON.
    """
    messages = [{"role": "system", "content": SYSTEM}]
    if example:
        like, cards = EXAMPLES[not to_discard(view)]
        answer = json.dumps({"answer": cards}) if in_json else f"Answer: {cards}"
        messages += [{"role": "user", "content": _asked(like, in_json)}, {"role": "assistant", "content": answer}]
    return (*messages, {"role": "user", "content": _asked(view, in_json)})


def _asked(view: Decision, in_json: bool) -> str:
    return f"{in_words(view)}\n{how_to_answer(view, in_json)}"


def _form(view: Decision, schema: Schema) -> dict[str, Any]:
    """What asks an endpoint for JSON that holds one of the answers that may be given."""
    if schema == "no":
        return {}
    answer = {"type": "string", "enum": answers(view)}
    wanted = {"type": "object", "properties": {"answer": answer}, "required": ["answer"], "additionalProperties": False}
    form = {"schema": wanted}
    named = form if schema == "json_object" else {schema: {"name": "answer", "strict": True} | form}
    return {"response_format": {"type": schema} | named}


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

    def line(self) -> str:
        """As it stands in the file; halves of surrogate pairs, which no file can hold, become question marks."""
        return json.dumps(self._asdict(), ensure_ascii=False).encode(errors="replace").decode()


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
                self._count(typed(parse_json(line), Exchange))
            except ValueError as error:
                raise ValueError(f"{file}, line {number} is no exchange with a model ({error})") from None
        if whole < len(content):
            os.truncate(file, whole)

    def add(self, exchange: Exchange) -> None:
        """Keeps an exchange, on the disk first."""
        add_lines(self.file, [exchange.line()])
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


class UnansweredError(ValueError):
    """A model named no legal card, however often it was asked.

    Attributes:
        game_ids: of all such decisions of a batch.
    """

    def __init__(self, fault: str, *game_ids: int) -> None:
        super().__init__(fault)
        self.game_ids = game_ids


class _NoAnswerError(Exception):
    """A call that brought no answer."""

    def __init__(self, kind: str, fault: str, again: bool = True, wait: float = 0.0) -> None:
        super().__init__(fault)
        self.kind, self.again, self.wait = kind, again, wait


@dataclass(kw_only=True, eq=False)
class LLMAgent:
    """A language model. It is asked for each decision by itself, many side by side, and remembers nothing.

    A card that it did not name is never played. An answer that cannot be used is counted in ``faults``, and the model
    is told what was wrong and asked again. A card that is the only legal one is not asked for.

    Attributes:
        faults: answers that could not be used: ``"illegal"``, ``"cut"`` off before their end; and calls that brought
            none: ``"late"``, ``"busy"``, ``"failed"``.
        first_answers: how many decisions were asked for, and how many of the first answers could be used.

    Raises:
        ValueError: a setting is not allowed, ``httpx`` is not installed, or the file cannot be used.
    """

    powers = Powers(mixes="unknown", copyable=False, counts_faults=True)

    model: str
    """Its name at the endpoint."""
    base_url: str = OPENAI
    """Of the endpoint; a key is taken from the environment variable ``OPENAI_API_KEY``."""
    threads: int = 8
    """How many calls wait for answers at the same time."""
    seconds: float = 120.0
    """The time limit of a call."""
    retries: int = 5
    """How often a call is made again that brought no answer."""
    temperature: float | None = None
    """Of the answers; by default the endpoint's."""
    answer_tokens: int | None = None
    """The most that an answer may have; by default the endpoint's."""
    calls: int | None = None
    """The most calls that the file may hold."""
    tokens: int | None = None
    """The most tokens that the file may hold; answers under way when they are spent are still taken."""
    file: Path | None = None
    """Where every exchange is kept, by default ``runs/llm/MODEL.jsonl``; what is answered there is not asked again."""
    asks: int = 3
    """How many answers the model has to name a legal card."""
    example: bool = False
    """Whether an answered question comes before each."""
    schema: Schema = "no"
    """How the endpoint is asked for JSON that holds one of the legal answers, as OpenAI (``"json_schema"``) or as
    llama-cpp-python has it (``"json_object"``); by default it is not."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            _, at, host = parts.netloc.rpartition("@")
            shown = self.base_url.replace(parts.netloc, f"…@{host}") if at else self.base_url
            raise ValueError(
                f"base_url={shown!r} is not allowed: give one such as http://localhost:8000/v1; a key is read from the "
                f"environment variable {KEY} alone"
            )
        least = {"threads": 1, "retries": 0, "answer_tokens": 1, "calls": 0, "tokens": 0, "asks": 1}
        for name, fewest in least.items():
            if (value := getattr(self, name)) is not None and value < fewest:
                raise ValueError(f"{name}={value} is not allowed, give at least {fewest}")
        if not 0 < self.seconds < float("inf"):
            raise ValueError(f"seconds={self.seconds} is not allowed, give a number above 0")
        try:
            import httpx
        except ImportError as error:
            raise ValueError(f"agent 'llm' needs httpx ({error}): install crib_env with its extra 'llm'") from None
        self.name, self._httpx = f"llm:model={self.model}", httpx
        self.faults: Counter[str] = Counter()
        self.first_answers: Counter[str] = Counter()
        self._found: dict[str, tuple[int, ...] | UnansweredError] = {}  # by the words of the position
        file = self.file or FOLDER / (re.sub(r"[^\w.-]+", "-", self.model) + ".jsonl")
        self._kept = kept_in(file.resolve())
        self._under_way: dict[str, asyncio.Task[Exchange]] = {}
        self._calling = 0
        self._ssl = ssl.create_default_context()  # takes 20 ms, and a connection is made for each batch
        self._stopped: ValueError | None = None

    def act(self, views: PlayerViews) -> np.ndarray:
        """One legal card for each of B decisions: (B,) int64.

        Raises:
            UnansweredError: the model named none for some of them; all others are answered and kept.
            ValueError: the endpoint gives no answer, or the budget is spent. Finished answers are kept.
        """
        return np.array(asyncio.run(self._cards(list(decisions(views)))), np.int64)

    async def _cards(self, views: list[Decision]) -> list[int]:
        async with self._connection() as ask:
            found = await asyncio.gather(*(self._card(ask, view) for view in views), return_exceptions=True)
        errors = [one for one in found if isinstance(one, BaseException)]
        if stopped := [error for error in errors if not isinstance(error, UnansweredError)]:
            raise stopped[0]
        if unanswered := [error for error in errors if isinstance(error, UnansweredError)]:
            raise UnansweredError(str(unanswered[0]), *(error.game_ids[0] for error in unanswered))
        return [card for card in found if isinstance(card, int)]

    async def _card(self, ask: Asker, view: Decision) -> int:
        if not to_discard(view) and len(view.legal) == 1:
            return view.legal[0]
        if view.discards and to_discard(view):  # the first of two is made: was it of this model's pair?
            six = replace(view, hand=tuple(sorted(view.hand + view.discards)), discards=())
            pair = self._found.get(in_words(six))
            if isinstance(pair, tuple) and view.discards[0] in pair:
                return pair[1 - pair.index(view.discards[0])]
        words = in_words(view)
        if words not in self._found:
            try:
                self._found[words] = await self._answer(ask, view)
            except UnansweredError as error:
                self._found[words] = error
        found = self._found[words]
        if isinstance(found, UnansweredError):
            raise UnansweredError(str(found), view.game_id)
        return found[0]

    async def _answer(self, ask: Asker, view: Decision) -> tuple[int, ...]:
        """Asks until the answer names legal cards."""
        in_json, form = self.schema != "no", _form(view, self.schema)
        messages = question(view, self.example, in_json)
        self.first_answers["asked"] += 1
        for number in range(self.asks):
            exchange = await ask(messages, form)
            answer, kind, fault = exchange.answer or "", "illegal", ""
            try:
                if exchange.end not in ("stop", None):
                    kind = "cut"
                    raise ValueError(f"your answer was cut off ({exchange.end}); use fewer words")
                cards = read_answer(answer, view)
            except ValueError as error:
                fault = str(error)
            else:
                self.first_answers["used"] += number == 0
                return cards
            self.faults[kind] += 1
            messages += (
                {"role": "assistant", "content": answer[:_REPEATED] or "(nothing)"},
                {"role": "user", "content": f"That cannot be played: {fault}. {how_to_answer(view, in_json)}"},
            )
        where = f"in game {view.game_id}, decision {view.decision}"
        raise UnansweredError(
            f"agent {self.name!r} named no legal card in {self.asks} answers {where} ({fault})", view.game_id
        )

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Asker]:
        """What asks within one event loop: a question that was answered before is answered from the file.

        It raises ``ValueError`` when the endpoint gives no answer or the budget is spent. Then no further calls begin,
        and those under way still bring their answers.
        """
        self._stopped, free = None, asyncio.Semaphore(self.threads)
        limits: dict[str, Any] = {"timeout": None, "limits": self._httpx.Limits()}  # none but ours
        async with self._httpx.AsyncClient(verify=self._ssl, follow_redirects=True, **limits) as client:

            async def asked(sent: dict[str, Any], question: str) -> Exchange:
                async with free:
                    if self._stopped is not None:
                        raise self._stopped
                    try:
                        return await self._call(client, sent, question)
                    except ValueError as error:
                        self._stopped = error
                        raise
                    finally:
                        del self._under_way[question]

            async def ask(messages: Messages, form: dict[str, Any]) -> Exchange:
                most = "max_completion_tokens" if self.base_url == OPENAI else "max_tokens"  # as others call it
                settings = {"temperature": self.temperature, most: self.answer_tokens}
                given = {name: value for name, value in settings.items() if value is not None}
                sent = {"model": self.model, "messages": list(messages), **given, **form}
                content = json.dumps([self.base_url, sent], sort_keys=True)
                question = hashlib.sha256(content.encode()).hexdigest()
                if question in self._kept.answers:
                    return self._kept.answers[question]
                if question not in self._under_way:
                    self._under_way[question] = asyncio.create_task(asked(sent, question))
                return await self._under_way[question]

            yield ask

    async def _call(self, client: Any, sent: dict[str, Any], question: str) -> Exchange:
        """Asks until there is an answer, and keeps every attempt."""
        wait = _FIRST_WAIT
        for left in reversed(range(self.retries + 1)):
            self._check_budget()
            self._calling += 1
            began = time.monotonic()
            try:
                exchange = await self._complete(client, sent, question)
            except _NoAnswerError as fault:
                said = str(fault)
                self._kept.add(Exchange(question, sent, None, None, 0, _since(began), said))
                self.faults[fault.kind] += 1
                if not fault.again or not left:
                    raise ValueError(
                        f"{self.base_url} gives no answer: {said}. Finished answers are kept in {self._kept.file}, and "
                        "the same command goes on from there"
                    ) from None
                await asyncio.sleep(min(fault.wait or wait, _LONGEST_WAIT))
                wait *= 2
            else:
                self._kept.add(exchange)
                return exchange
            finally:
                self._calling -= 1
        raise AssertionError("the last attempt returns or raises")

    def _check_budget(self) -> None:
        kept = self._kept
        for name, spent in (("calls", kept.calls + self._calling), ("tokens", kept.tokens)):
            most = getattr(self, name)
            if most is not None and spent >= most:
                raise ValueError(
                    f"{name}={most:,} are spent: {kept.file} holds {spent:,} {name}. With a larger number the same "
                    "command goes on from there"
                )

    async def _complete(self, client: Any, sent: dict[str, Any], question: str) -> Exchange:
        """An answer, as it can be kept."""
        began = time.monotonic()
        try:
            status, waits, body = await asyncio.wait_for(self._post(client, sent), self.seconds)
            if status != 200:
                kind, again = "busy" if status == 429 else "failed", status in (408, 409, 429) or status >= 500
                wait = float(waits) if waits.isdecimal() else 0.0
                raise _NoAnswerError(kind, f"HTTP {status}, {_shown(body.decode(errors='replace'))}", again, wait)
            found = parse_json(body)
            choice, tokens = found["choices"][0], (found.get("usage") or {}).get("total_tokens") or 0
            answer = choice["message"].get("content") or choice["message"].get("refusal") or ""
            end = choice.get("finish_reason") and choice["finish_reason"][:_SHOWN]
            if tokens < 0:
                raise ValueError(f"it counts {tokens} tokens")
            exchange = Exchange(question, sent, answer[: LONGEST + 1], end, tokens, _since(began), None)
            return typed(parse_json(exchange.line()), Exchange)
        except asyncio.TimeoutError:
            raise _NoAnswerError("late", f"none within {self.seconds:g} s") from None
        except (self._httpx.HTTPError, self._httpx.InvalidURL, AttributeError, LookupError, TypeError, ValueError) as e:
            raise _NoAnswerError("failed", f"{type(e).__name__}, {_shown(str(e))}") from None

    async def _post(self, client: Any, sent: dict[str, Any]) -> tuple[int, str, bytes]:
        """Status, ``retry-after`` and body of a response; it is not unpacked, and an endless one ends."""
        key, body = os.environ.get(KEY), bytearray()
        headers = {"accept-encoding": "identity"} | ({"authorization": f"Bearer {key}"} if key else {})
        url = f"{self.base_url.rstrip('/')}/chat/completions"
        async with client.stream("POST", url, json=sent, headers=headers) as response:
            async for part in response.aiter_raw():
                body += part
                if len(body) > _LARGEST:
                    raise ValueError(f"it sends more than {_LARGEST:,} bytes")
            return response.status_code, response.headers.get("retry-after", ""), bytes(body)


Asker = Callable[[Messages, dict[str, Any]], Awaitable[Exchange]]


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)


def _shown(said: str) -> str:
    """An error in one short line, without words that repeat a part of the key."""
    key = os.environ.get(KEY, "")
    parts = [key[at : at + _PART] for at in range(max(len(key) - _PART, 0) + 1)] if key else []
    words = ("…" if any(part in word for part in parts) else word for word in said.split())
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(words)[:_SHOWN])
