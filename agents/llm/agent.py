"""The agent ``llm``: asks a language model for each decision. ``docs/agents/language-models.md`` shows how."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path  # noqa: F401 -- for the type hints of `Calls`, by which settings are read
from typing import Any, Literal

import numpy as np

from crib_env.agents.llm.endpoint import Asker, Calls, Endpoint, Messages
from crib_env.cards import parse_cards
from crib_env.players.agent import Powers
from crib_env.players.one_at_a_time import Decision, decisions
from crib_env.text.answer import answers, how_to_answer, read_answer
from crib_env.text.position import in_words, to_discard
from crib_env.text.rules import RULES
from crib_env.views import PlayerViews

Schema = Literal["no", "json_schema", "json_object"]
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


class UnansweredError(ValueError):
    """A model named no legal card, however often it was asked.

    Attributes:
        game_ids: of all such decisions of a batch.
    """

    def __init__(self, fault: str, *game_ids: int) -> None:
        super().__init__(fault)
        self.game_ids = game_ids


@dataclass(kw_only=True, eq=False)
class LLMAgent(Calls):
    """A language model. It is asked for each decision by itself, many side by side, and remembers nothing.

    A card that it did not name is never played. An answer that cannot be used is counted in ``faults``, and the model
    is told what was wrong and asked again. A card that is the only legal one is not asked for.

    Attributes:
        faults: answers that could not be used: ``"illegal"``, ``"cut"`` off before their end; and calls that brought
            none: ``"late"``, ``"busy"``, ``"failed"``.
        first_answers: how many decisions were asked for, and how many of the first answers could be used.

    Raises:
        ValueError: a setting is not allowed, or ``httpx`` is not installed.
    """

    powers = Powers(mixes="unknown", copyable=False, counts_faults=True)

    asks: int = 3
    """How many answers the model has to name a legal card."""
    example: bool = False
    """Whether an answered question comes before each."""
    schema: Schema = "no"
    """How the endpoint is asked for JSON that holds one of the legal answers, as OpenAI (``"json_schema"``) or as
    llama-cpp-python has it (``"json_object"``); by default it is not."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.asks < 1:
            raise ValueError(f"asks={self.asks} is not allowed, give at least 1")
        self.name = f"llm:model={self.model}"
        self.faults: Counter[str] = Counter()
        self.first_answers: Counter[str] = Counter()
        self._endpoint = Endpoint(self, self.faults)
        self._found: dict[str, tuple[int, ...] | UnansweredError] = {}  # by the words of the position

    def act(self, views: PlayerViews) -> np.ndarray:
        """One legal card for each of B decisions: (B,) int64.

        Raises:
            UnansweredError: the model named none for some of them; all others are answered and kept.
            ValueError: the endpoint gives no answer, or the budget is spent. Finished answers are kept.
        """
        return np.array(asyncio.run(self._cards(list(decisions(views)))), np.int64)

    async def _cards(self, views: list[Decision]) -> list[int]:
        async with self._endpoint.connection() as ask:
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
