"""An endpoint that speaks OpenAI's protocol: calls side by side, with time limits, retries and a budget."""

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crib_env.agents.llm.kept import Exchange, exchange_of, kept_in, line_of
from crib_env.files.json_text import parse_json
from crib_env.text.answer import LONGEST

KEY = "OPENAI_API_KEY"
"""The environment variable with the key, for endpoints that ask for one."""
OPENAI = "https://api.openai.com/v1"
FOLDER = Path("runs/llm")
Messages = tuple[dict[str, str], ...]
Asker = Callable[[Messages, dict[str, Any]], Awaitable[Exchange]]
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds before a call is made again; the wait doubles
_LARGEST = 1 << 24  # bytes of what an endpoint sends
_SHOWN = 300  # characters of an endpoint's error
_PART = 4  # characters of the key, in a row, that are not shown


@dataclass(kw_only=True, eq=False)
class Calls:
    """How a model is called.

    Raises:
        ValueError: a value is not allowed; the message names it.
    """

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

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise ValueError(
                f"base_url={self._without_user(parts.netloc)!r} is not allowed: give one such as "
                f"http://localhost:8000/v1; a key is read from the environment variable {KEY} alone"
            )
        for name, least in (("threads", 1), ("retries", 0), ("answer_tokens", 1), ("calls", 0), ("tokens", 0)):
            if (value := getattr(self, name)) is not None and value < least:
                raise ValueError(f"{name}={value} is not allowed, give at least {least}")
        if not 0 < self.seconds < float("inf"):
            raise ValueError(f"seconds={self.seconds} is not allowed, give a number above 0")

    @property
    def kept(self) -> Path:
        """The file of the exchanges."""
        return self.file or FOLDER / (re.sub(r"[^\w.-]+", "-", self.model) + ".jsonl")

    def _without_user(self, netloc: str) -> str:
        return self.base_url.replace(netloc, f"…@{netloc.rpartition('@')[2]}") if "@" in netloc else self.base_url


class _NoAnswerError(Exception):
    """A call that brought no answer."""

    def __init__(self, kind: str, fault: str, again: bool = True, wait: float = 0.0) -> None:
        super().__init__(fault)
        self.kind, self.again, self.wait = kind, again, wait


class Endpoint:
    """Asks a model, and keeps what it answers.

    Args:
        faults: counts calls without an answer, by kind: ``"late"``, ``"busy"``, ``"failed"``.

    Raises:
        ValueError: ``httpx`` is not installed, or the file cannot be used.
    """

    def __init__(self, calls: Calls, faults: Counter[str]) -> None:
        try:
            import httpx
        except ImportError as error:
            raise ValueError(f"agent 'llm' needs httpx ({error}): install crib_env with its extra 'llm'") from None
        self._httpx, self._calls, self._faults = httpx, calls, faults
        self._kept = kept_in(calls.kept.resolve())
        self._under_way: dict[str, asyncio.Task[Exchange]] = {}
        self._calling = 0
        self._ssl = ssl.create_default_context()  # takes 20 ms, and a connection is made for each batch
        self._stopped: ValueError | None = None

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Asker]:
        """What asks within one event loop: a question that was answered before is answered from the file.

        It takes messages, and what else is sent beside them.

        It raises ``ValueError`` when the endpoint gives no answer or the budget is spent. Then no further calls begin,
        and those under way still bring their answers.
        """
        self._stopped, free = None, asyncio.Semaphore(self._calls.threads)
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
                sent = self._sent(messages) | form
                question = _hash([self._calls.base_url, sent])
                if question in self._kept.answers:
                    return self._kept.answers[question]
                if question not in self._under_way:
                    self._under_way[question] = asyncio.create_task(asked(sent, question))
                return await self._under_way[question]

            yield ask

    def _sent(self, messages: Messages) -> dict[str, Any]:
        most = "max_completion_tokens" if self._calls.base_url == OPENAI else "max_tokens"  # as others call it
        settings = {"temperature": self._calls.temperature, most: self._calls.answer_tokens}
        given = {name: value for name, value in settings.items() if value is not None}
        return {"model": self._calls.model, "messages": list(messages), **given}

    async def _call(self, client: Any, sent: dict[str, Any], question: str) -> Exchange:
        """Asks until there is an answer, and keeps every attempt."""
        wait = _FIRST_WAIT
        for left in reversed(range(self._calls.retries + 1)):
            self._check_budget()
            self._calling += 1
            began = time.monotonic()
            try:
                exchange = await self._complete(client, sent, question)
            except _NoAnswerError as fault:
                said = str(fault)
                self._kept.add(Exchange(question, sent, None, None, 0, _since(began), said))
                self._faults[fault.kind] += 1
                if not fault.again or not left:
                    raise ValueError(
                        f"{self._calls.base_url} gives no answer: {said}. Finished answers are kept in "
                        f"{self._calls.kept}, and the same command goes on from there"
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
        for name, spent, most in (
            ("calls", kept.calls + self._calling, self._calls.calls),
            ("tokens", kept.tokens, self._calls.tokens),
        ):
            if most is not None and spent >= most:
                raise ValueError(
                    f"{name}={most:,} are spent: {kept.file} holds {spent:,} {name}. With a larger "
                    "number the same command goes on from there"
                )

    async def _complete(self, client: Any, sent: dict[str, Any], question: str) -> Exchange:
        """An answer, as it can be kept."""
        began = time.monotonic()
        try:
            status, waits, body = await asyncio.wait_for(self._post(client, sent), self._calls.seconds)
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
            return exchange_of(line_of(exchange))
        except asyncio.TimeoutError:
            raise _NoAnswerError("late", f"none within {self._calls.seconds:g} s") from None
        except (self._httpx.HTTPError, self._httpx.InvalidURL, AttributeError, LookupError, TypeError, ValueError) as e:
            raise _NoAnswerError("failed", f"{type(e).__name__}, {_shown(str(e))}") from None

    async def _post(self, client: Any, sent: dict[str, Any]) -> tuple[int, str, bytes]:
        """Status, ``retry-after`` and body of a response; it is not unpacked, and an endless one ends."""
        key, body = os.environ.get(KEY), bytearray()
        headers = {"accept-encoding": "identity"} | ({"authorization": f"Bearer {key}"} if key else {})
        url = f"{self._calls.base_url.rstrip('/')}/chat/completions"
        async with client.stream("POST", url, json=sent, headers=headers) as response:
            async for part in response.aiter_raw():
                body += part
                if len(body) > _LARGEST:
                    raise ValueError(f"it sends more than {_LARGEST:,} bytes")
            return response.status_code, response.headers.get("retry-after", ""), bytes(body)


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _shown(said: str) -> str:
    """An error in one short line, without words that repeat a part of the key."""
    key = os.environ.get(KEY, "")
    parts = [key[at : at + _PART] for at in range(max(len(key) - _PART, 0) + 1)] if key else []
    words = ("…" if any(part in word for part in parts) else word for word in said.split())
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(words)[:_SHOWN])
