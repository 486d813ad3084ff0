"""What a player has answered in text, read as cards; errors say what to answer instead."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from crib_env.cards import format_card, format_cards, parse_card, parse_cards
from crib_env.files.json_text import parse_json
from crib_env.players.one_at_a_time import Decision
from crib_env.text.position import to_discard

LONGEST = 1 << 16  # characters; in a longer text nobody looks for an answer
_COUNTED = {1: "one card", 2: "two cards"}
_SYMBOLS = {"♣": "C", "♦": "D", "♥": "H", "♠": "S"}
# Among other words an ace has to be a capital: "as" and "ad" are words, too.
_CARD = re.compile(r"(?<![^\W_])(?:(?:10|[2-9TJQKtjqk])[CDHScdhs]|A[CDHS])(?![^\W_])")
# Takes linear time: no two attempts look at the same characters behind an "answer".
_ANSWER = re.compile(r".*\banswer\b[^\w:]*:\W*(?=\w)", re.IGNORECASE | re.DOTALL)
_FENCE = "```"


def how_to_answer(view: Decision, in_json: bool = False) -> str:
    """The sentence that asks for an answer which :func:`read_answer` reads."""
    how = 'Answer in JSON, {"answer": "…"}, with' if in_json else 'End with a line that holds "Answer:" and'
    return f"{how} the {_COUNTED[_wanted(view)]} alone."


def answers(view: Decision) -> list[str]:
    """All that may be answered."""
    cards = view.hand if to_discard(view) else view.legal
    return [format_cards(chosen) for chosen in itertools.combinations(cards, _wanted(view))]


def read_answer(text: str, view: Decision) -> tuple[int, ...]:
    """The cards that a text names: two for a discard, one where one is left to discard or to lay.

    Cards alone are read (``"5H 5C"``, ``"5♥ 5♣"``), or among words (``"discard 5H and 5C"``). What follows the last
    ``Answer:`` counts alone. A JSON object is read as a tool call: its ``arguments``, or itself, name the cards.

    Raises:
        ValueError: it does not name as many different cards as are wanted, or one that may not be chosen; the message
            says what to answer.
    """
    if len(text) > LONGEST:
        raise ValueError(f"that answer is longer than {LONGEST:,} characters: {_please(view)}")
    if found := _ANSWER.match(text):
        text = text[found.end() :].splitlines()[0]
    for symbol, suit in _SYMBOLS.items():
        text = text.replace(symbol, suit)
    try:
        cards = _cards_in(text)
    except ValueError as error:
        raise ValueError(f"{error}: {_please(view)}") from None
    if len(cards) != _wanted(view):
        named = f"you named {format_cards(cards)}" if cards else "you named no card"
        raise ValueError(f"{named}: {_please(view)}")
    for card in cards:
        check_choice(card, view.hand, view.hand if to_discard(view) else view.legal)
    return tuple(cards)


def check_choice(card: int, hand: Collection[int], legal: Collection[int]) -> None:
    """Checks that a card may be chosen.

    Args:
        hand: cards held, in the order in which an error names them.
        legal: those that may be chosen.

    Raises:
        ValueError: it may not; the message says why, and which may.
    """
    if card not in legal:
        held = (
            f"{format_card(card)} would take the count over 31"
            if card in hand
            else f"you do not hold {format_card(card)}"
        )
        raise ValueError(f"{held}: choose one of {format_cards(one for one in hand if one in legal)}")


def _wanted(view: Decision) -> int:
    return to_discard(view) or 1


def _please(view: Decision) -> str:
    return f"name exactly {_COUNTED[_wanted(view)]} of {format_cards(view.hand if to_discard(view) else view.legal)}"


def _cards_in(text: str) -> list[int]:
    """The different cards that a text names, in its order."""
    fenced = text.split(_FENCE, 2)
    inner = (fenced[1].removeprefix("json") if len(fenced) > 2 else text).strip()
    if inner.startswith("{"):
        return parse_cards(_named(parse_json(inner)))
    try:
        return parse_cards(text.strip(" .*`\n"))
    except ValueError:  # words among the cards
        return list(dict.fromkeys(map(parse_card, dict.fromkeys(_CARD.findall(text)))))


def _named(call: Any) -> Sequence[str]:
    """The cards of a tool call, ``{"name": "discard", "arguments": {"a": "5H", "b": "5C"}}``, or of its arguments."""
    arguments = call.get("arguments", call)
    if isinstance(arguments, str):  # as OpenAI's protocol has them
        arguments = parse_json(arguments)
    return [text for value in arguments.values() for text in _texts_in(value)] if isinstance(arguments, dict) else []


def _texts_in(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        return [value]
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
