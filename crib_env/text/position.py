"""One decision as its player sees it: as sentences, and as JSON.

Both say what :class:`crib_env.Decision` holds, and so nothing that the player may not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crib_env.cards import format_card, format_cards
from crib_env.players.one_at_a_time import Decision
from crib_env.scoring import COUNT_LIMIT, card_value

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_KEPT = 4  # cards of a hand, once both discards are made


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
    said.append(f"You hold {format_cards(_by_rank(view.hand))}.")
    if left:
        said.append(f"Discard {_cards(left)} to the crib.")
    else:
        said.append(f"Lay one card. You may lay {' or '.join(map(format_card, _by_rank(view.legal)))}.")
    return "\n".join(said)


def as_json(view: Decision) -> dict[str, Any]:
    """The fields of :class:`crib_env.Decision` as JSON has them, with cards as text, and which decision it is: ``ask``
    is ``"discard"`` or ``"lay"``. ``docs/agents/programs.md`` describes them."""
    is_discard = to_discard(view) > 0
    return {
        "ask": "discard" if is_discard else "lay",
        "game_id": view.game_id,
        "decision": view.decision,
        "scores": view.scores,
        "is_dealer": view.is_dealer,
        "hand": _texts(view.hand),
        "legal": _texts(view.hand if is_discard else view.legal),
        "discards": _texts(view.discards),
        "kept": _texts(view.kept),
        "starter": _text(view.starter),
        "history": [(by, _text(card)) for by, card in view.history],
        "pile": _texts(view.pile),
        "count": view.count,
        "said_go": view.said_go,
        "opponent_cards": view.opponent_cards,
    }


def _play_in_words(view: Decision) -> str:
    counts = [
        ", ".join(
            f"{('you', 'opponent')[by]} {'go' if card is None else f'{format_card(card)} ({count})'}"
            for by, card, count in acts
        )
        for acts in _counts(view)
    ]
    if not counts:
        return "Nothing is laid yet; the count is 0."
    said = f"Laid so far, with the count after each card: {'; new count: '.join(counts)}."
    return f"{said} The count is {view.count}."


def _counts(view: Decision) -> Iterator[list[tuple[int, int | None, int]]]:
    """The play count by count: by whom, the card (``None`` is a go), the count after it."""
    acts: list[tuple[int, int | None, int]] = []
    count = 0
    for by, card in view.history:
        value = 0 if card is None else card_value(card % 13)
        if count + value > COUNT_LIMIT:  # nobody could lay it on the old count
            yield acts
            acts, count = [], 0
        count += value
        acts.append((by, card, count))
    if acts:
        yield acts


def _cards(n: int) -> str:
    return f"{_NUMBERS[n]} card{'s' * (n != 1)}"


def _by_rank(cards: Sequence[int]) -> list[int]:
    """As people hold them."""
    return sorted(cards, key=lambda card: (card % 13, card))


def _text(card: int | None) -> str | None:
    return None if card is None else format_card(card)


def _texts(cards: Sequence[int]) -> list[str]:
    return [format_card(card) for card in cards]
