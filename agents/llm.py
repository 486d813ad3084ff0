"""``llm:model=NAME``: a language model plays, asked in words over an endpoint that speaks OpenAI's protocol.

``docs/agents/language-models.md`` shows how. What a model has answered is kept in a file, so that no question is paid
for twice.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import ssl
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_type_hints
from urllib.parse import urlsplit

import numpy as np

from crib_env.cards import parse_cards
from crib_env.files.json_text import parse_json
from crib_env.files.whole_file import add_lines
from crib_env.players.agent import Powers
from crib_env.players.one_at_a_time import Decision, decisions
from crib_env.players.text import RULES, answers, how_to_answer, in_words, read_answer, to_discard
from crib_env.values import Positive, Threads, check_values, typed
from crib_env.views import PlayerViews

KEY = "OPENAI_API_KEY"
"""The environment variable with the key, for endpoints that ask for one."""
FOLDER = Path("runs/llm")
Schema = Literal["no", "json_schema", "json_object"]
Messages = list[dict[str, str]]
_ASKS = 3  # answers that a model has to name a legal card
_WAITS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # seconds before a call that brought no answer is made again
_SHOWN = 300  # characters of an endpoint's error
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
    return [*messages, {"role": "user", "content": _asked(view, in_json)}]


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


class Answer(NamedTuple):
    """An answer of a model: a line of the file."""

    question: str
    """All that was sent, and where to, as JSON."""
    text: str
    end: str | None
    """Why it ended: ``"stop"`` if it is whole."""


def _read(file: Path) -> dict[str, Answer]:
    """The answers in a file by their questions; a last line that was not finished is cut off.

    Raises:
        ValueError: the file is something else, or cannot be written; the message names it.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    add_lines(file, ())  # it can be written
    content, kept = file.read_bytes(), {}
    whole = content.rfind(b"\n") + 1
    for number, line in enumerate(content[:whole].splitlines(), start=1):
        try:
            answer: Answer = typed(parse_json(line), Answer)
        except ValueError as error:
            raise ValueError(f"{file}, line {number} is no answer of a model ({error})") from None
        kept[answer.question] = answer
    os.truncate(file, whole)
    return kept


@dataclass(kw_only=True, eq=False)
class LLMAgent:
    """A language model. It is asked for each decision by itself, many side by side, and remembers nothing.

    A card that it did not name is never played. If its answer cannot be used, the model is told what was wrong and
    asked again. A card that is the only legal one is not asked for.

    Attributes:
        first_answers: whether the first answer could be used, by the words of each position.

    Raises:
        ValueError: a setting is not allowed, ``httpx`` is not installed, or the file cannot be used.
    """

    powers = Powers(mixes="unknown", copyable=False)

    model: str
    """Its name at the endpoint."""
    base_url: str = "https://api.openai.com/v1"
    """Of the endpoint; a key is taken from the environment variable ``OPENAI_API_KEY``."""
    threads: Threads = 8
    """How many decisions are asked for at the same time."""
    seconds: Positive = 120.0
    """The time limit of a call."""
    temperature: float | None = None
    """Of the answers; by default the endpoint's."""
    file: Path | None = None
    """Where answers are kept, by default ``runs/llm/MODEL.jsonl``; what is answered there is not asked again."""
    example: bool = False
    """Whether an answered question comes before each."""
    schema: Schema = "no"
    """How the endpoint is asked for JSON that holds one of the legal answers, as OpenAI (``"json_schema"``) or as
    llama-cpp-python has it (``"json_object"``); by default it is not."""

    def __post_init__(self) -> None:
        check_values(vars(self), get_type_hints(LLMAgent, include_extras=True))
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ValueError(
                "this base_url is not allowed: give one such as http://localhost:8000/v1; a key is read from the "
                f"environment variable {KEY} alone"
            )
        try:
            import httpx
        except ImportError as error:
            raise ValueError(f"agent 'llm' needs httpx ({error}): install crib_env with its extra 'llm'") from None
        self.name, self._httpx = f"llm:model={self.model}", httpx
        self.first_answers: dict[str, bool] = {}
        self._file = (self.file or FOLDER / (re.sub(r"[^\w.-]+", "-", self.model) + ".jsonl")).resolve()
        self._kept = _read(self._file)
        self._ssl = ssl.create_default_context()  # takes 20 ms, and a connection is made for each batch

    def act(self, views: PlayerViews) -> np.ndarray:
        """One legal card for each of B decisions: (B,) int64.

        Raises:
            ValueError: the model names no legal card, or the endpoint gives no answer. Finished answers are kept.
        """
        chosen = self.choices(views)
        for cards in chosen:
            if isinstance(cards, ValueError):
                raise cards
        return np.array([cards[0] for cards in chosen], np.int64)

    def choices(self, views: PlayerViews) -> list[Any]:
        """The cards that the model names for each decision, the next one first: two before a discard, else one. A
        ``ValueError`` where none of three answers names legal cards.

        Raises:
            ValueError: the endpoint gives no answer. Finished answers are kept.
        """
        return asyncio.run(self._choices(list(decisions(views))))

    async def _choices(self, views: list[Decision]) -> list[Any]:
        free, limits = asyncio.Semaphore(self.threads), self._httpx.Limits()  # no limits but ours
        async with self._httpx.AsyncClient(verify=self._ssl, timeout=self.seconds, limits=limits) as client:
            return await asyncio.gather(*(self._choice(client, free, view) for view in views))

    async def _choice(self, client: Any, free: asyncio.Semaphore, view: Decision) -> tuple[int, ...] | ValueError:
        async with free:
            if not to_discard(view):
                return view.legal if len(view.legal) == 1 else await self._asked(client, view)
            first = view.discards  # of two, if it is made: both were named then
            found = await self._asked(client, replace(view, hand=tuple(sorted(view.hand + first)), discards=()))
            return found[::-1] if isinstance(found, tuple) and found[0] in first else found

    async def _asked(self, client: Any, view: Decision) -> tuple[int, ...] | ValueError:
        """Asks until the answer names legal cards."""
        in_json, fault, words = self.schema != "no", "", in_words(view)
        messages = question(view, self.example, in_json)
        for _ in range(_ASKS):
            answer = await self._answer(client, messages, _form(view, self.schema))
            try:
                if answer.end not in ("stop", None):
                    raise ValueError(f"your answer was cut off ({answer.end}); use fewer words")
                cards = read_answer(answer.text, view)
                self.first_answers.setdefault(words, True)
                return cards
            except ValueError as error:
                fault, self.first_answers[words] = str(error), False
            again = f"That cannot be played: {fault}. {how_to_answer(view, in_json)}"
            said = answer.text[:_REPEATED] or "(nothing)"
            messages = [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": again}]
        where = f"in game {view.game_id}, decision {view.decision}"
        return ValueError(f"agent {self.name!r} named no legal card in {_ASKS} answers {where} ({fault})")

    async def _answer(self, client: Any, messages: Messages, form: dict[str, Any]) -> Answer:
        """A question that was answered before is answered from the file."""
        given = {} if self.temperature is None else {"temperature": self.temperature}
        sent = {"model": self.model, "messages": messages, **given, **form}
        question = json.dumps([self.base_url, sent], sort_keys=True)
        if question not in self._kept:
            answer = await self._call(client, sent, question)
            add_lines(self._file, [json.dumps(answer._asdict())])  # on the disk first
            self._kept[question] = answer
        return self._kept[question]

    async def _call(self, client: Any, sent: dict[str, Any], question: str) -> Answer:
        """Asks until there is an answer.

        Raises:
            ValueError: there is none.
        """
        url, key = f"{self.base_url.rstrip('/')}/chat/completions", os.environ.get(KEY)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        for wait in (*_WAITS, None):
            again = True
            try:
                response = await client.post(url, json=sent, headers=headers)
                if response.status_code == 200:
                    choice = response.json()["choices"][0]
                    text = choice["message"].get("content") or choice["message"].get("refusal") or ""
                    answer: Answer = typed(Answer(question, text, choice.get("finish_reason"))._asdict(), Answer)
                    return answer
                fault, again = f"HTTP {response.status_code}", response.status_code in (408, 429, *range(500, 600))
                if response.status_code == 401:  # its text may repeat a part of the key
                    fault += f": the environment variable {KEY} holds no key that is accepted"
                else:
                    fault += f", {response.text[:_SHOWN]!r}"
            except (self._httpx.HTTPError, AttributeError, LookupError, TypeError, ValueError) as error:
                fault, again = f"{type(error).__name__} {error}", not isinstance(error, self._httpx.ConnectError)
            if wait is None or not again:
                break
            await asyncio.sleep(wait)
        kept = f"Finished answers are kept in {self._file}, and the same command goes on from there"
        raise ValueError(f"{self.base_url} gives no answer: {fault}. {kept}")
