"""Cribbage in text: the rules, a decision as sentences and as JSON, and a player's answer read as cards.

Sentences and JSON say what :class:`crib_env.Decision` holds, and so nothing that the player may not know.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from crib_env.cards import by_rank, format_card, format_cards, parse_card, parse_cards
from crib_env.players.one_at_a_time import Decision
from crib_env.scoring import COUNT_LIMIT, card_value

RULES = (
    "Two players play to 121 points; whoever reaches it wins at once. "
    "The deal alternates. Each player gets six cards and discards two to the crib, which the dealer scores. "
    "The other player, pone, discards first and leads. A starter is cut; for a jack (heels) the dealer scores 2. "
    "An ace counts 1, court cards 10, others their number; in runs an ace is low. "
    "In the play they lay cards in turn, and the count of their values may not pass 31. A card that fits must be laid. "
    "Whoever has none says go, and the other goes on as long as cards fit. When none fits, whoever laid last "
    "scores 1 (go, or last card after the eighth), except at 31. The next count begins at 0; the other leads if "
    "holding cards. Making the count fifteen or thirty-one scores 2. "
    "A card of the rank just laid scores 2 for a pair, 6 for three of a kind, 12 for four of a kind. "
    "If the last three or more cards of a count form a run, in any order, the last scores a point for each. "
    "Then comes the show: pone's hand, dealer's hand, crib, each four cards and the starter. "
    "Every set of cards adding up to 15 scores 2. Every pair scores 2. "
    "Every longest run of three or more scores a point for each card. Four cards of one suit score 4, with the starter "
    "of that suit 5; the crib scores a flush only with the starter. "
    "A jack of the starter's suit, in hand or crib, scores 1. "
    "Cards are written as rank (A 2 3 4 5 6 7 8 9 T J Q K) and suit (C D H S): 5H is the five of hearts."
)
"""The rules in less than 300 words, and how cards are written."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_KEPT = 4  # cards of a hand, once both discards are made
_SYMBOLS = str.maketrans("♣♦♥♠", "CDHS")
# Among other words an ace has to be a capital: "as" and "ad" are words, too.
_CARD = re.compile(r"(?<![^\W_])(?:(?:10|[2-9TJQKtjqk])[CDHScdhs]|A[CDHS])(?![^\W_])")
# Takes linear time: no two attempts look at the same characters behind an "answer".
_ANSWER = re.compile(r".*\banswer\b[^\w:]*:\W*(?=\w)", re.IGNORECASE | re.DOTALL)


def to_discard(view: Decision) -> int:
    """How many cards the player has still to discard: 2, 1, or 0 in the play."""
    return max(len(view.hand) - _KEPT, 0)


def in_words(view: Decision) -> str:
    """The position, and what is to be done, in plain sentences."""
    own, other = view.scores
    role = "the dealer, and the crib is yours" if view.is_dealer else "pone, and the crib is your opponent's"
    said = [f"You are {role}. The score is {own} for you and {other} for your opponent."]
    left = to_discard(view)
    if not left:
        said += [
            "This deal is played without starter, discards and show."
            if view.starter is None
            else f"The starter is {format_card(view.starter)}. You discarded {format_cards(view.discards)}.",
            _play_in_words(view),
            f"Your opponent holds {_cards(view.opponent_cards)}{' and has said go' * view.said_go[1]}.",
        ]
    elif view.discards:
        said.append(f"You have discarded {format_cards(view.discards)}.")
    said.append(f"You hold {format_cards(by_rank(view.hand))}.")
    if left:
        said.append(f"Discard {_cards(left)} to the crib.")
    else:
        said.append(f"Lay one card. You may lay {' or '.join(map(format_card, by_rank(view.legal)))}.")
    return "\n".join(said)


def _play_in_words(view: Decision) -> str:
    if not view.history:
        return "Nothing is laid yet; the count is 0."
    said, count = "", 0
    for by, card in view.history:
        value = 0 if card is None else card_value(card % 13)
        is_new = count + value > COUNT_LIMIT  # nobody could lay it on the old count
        count = value if is_new else count + value
        said += "; new count: " if is_new else ", " if said else ""
        said += f"{('you', 'opponent')[by]} {'go' if card is None else f'{format_card(card)} ({count})'}"
    return f"Laid so far, with the count after each card: {said}. The count is {view.count}."


def _cards(n: int) -> str:
    return f"{_NUMBERS[n]} card{'s' * (n != 1)}"


def as_json(view: Decision) -> dict[str, Any]:
    """The fields of :class:`crib_env.Decision` as JSON has them, with cards as text, and which decision it is: ``ask``
    is ``"discard"`` or ``"lay"``. ``docs/agents/programs.md`` describes them."""
    cards = {"hand": view.hand, "legal": _choices(view), "discards": view.discards, "kept": view.kept}
    return {
        "ask": "discard" if to_discard(view) else "lay",
        "game_id": view.game_id,
        "decision": view.decision,
        "scores": view.scores,
        "is_dealer": view.is_dealer,
        **{name: [format_card(card) for card in some] for name, some in (cards | {"pile": view.pile}).items()},
        "starter": None if view.starter is None else format_card(view.starter),
        "history": [(by, None if card is None else format_card(card)) for by, card in view.history],
        "count": view.count,
        "said_go": view.said_go,
        "opponent_cards": view.opponent_cards,
    }


def _choices(view: Decision) -> tuple[int, ...]:
    return view.hand if to_discard(view) else view.legal


def _wanted(view: Decision) -> int:
    return to_discard(view) or 1


def how_to_answer(view: Decision, in_json: bool = False) -> str:
    """The sentence that asks for an answer which :func:`read_answer` reads."""
    how = 'Answer in JSON, {"answer": "…"}, with' if in_json else 'End with a line that holds "Answer:" and'
    return f"{how} the {_cards(_wanted(view))} alone."


def answers(view: Decision) -> list[str]:
    """All that may be answered."""
    return [format_cards(chosen) for chosen in itertools.combinations(_choices(view), _wanted(view))]


def read_answer(text: str, view: Decision) -> tuple[int, ...]:
    """The cards that a person, a program or a model names: two for a discard, one where one is left to discard or to
    lay.

    Cards alone are read (``"5H 5C"``, ``"5♥ 5♣"``), or among words or in JSON (``"discard 5H and 5C"``). What follows
    the last ``Answer:`` counts alone.

    Raises:
        ValueError: it does not name as many different cards as are wanted, or one that may not be chosen; the message
            says what to answer.
    """
    if found := _ANSWER.match(text):
        text = text[found.end() :].splitlines()[0]
    text = text.translate(_SYMBOLS)
    try:
        cards = parse_cards(text.strip(" .*`\n"))
    except ValueError:  # words among the cards
        cards = list(dict.fromkeys(map(parse_card, dict.fromkeys(_CARD.findall(text)))))
    if len(cards) != _wanted(view):
        named = f"you named {format_cards(cards)}" if cards else "you named no card"
        raise ValueError(f"{named}: name exactly {_cards(_wanted(view))} of {format_cards(_choices(view))}")
    for card in cards:
        if card not in _choices(view):
            name = format_card(card)
            fault = f"{name} would take the count over 31" if card in view.hand else f"you do not hold {name}"
            raise ValueError(f"{fault}: choose one of {format_cards(_choices(view))}")
    return tuple(cards)
