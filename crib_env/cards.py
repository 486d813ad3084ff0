"""Cards as integers and as text.

A card is ``13 * suit + rank``: suits C D H S are 0..3, ranks A 2 … 9 T J Q K are 0..12. As text a card is its rank
and its suit, ``"5H"`` or ``"TD"``; ``"10D"`` works too, and case does not matter.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

# The numbers below are constants of kernels.
RANKS = "A23456789TJQK"
SUITS = "CDHS"
N_CARDS = 52
JACK = 10
ACES = np.int64(1 << 0 | 1 << 13 | 1 << 26 | 1 << 39)  # as a mask; shift it left by a rank for the four of that rank

Card: TypeAlias = "str | SupportsIndex"
"""A card as text or as an id. Every public function accepts both."""

_CARD_OF_TEXT = {rank + suit: 13 * s + r for s, suit in enumerate(SUITS) for r, rank in enumerate(RANKS)}
_CARD_OF_TEXT |= {"10" + suit: 13 * s + 9 for s, suit in enumerate(SUITS)}
_CARD = re.compile(rf"(?:10|[{RANKS}])[{SUITS}]", re.IGNORECASE)
_TEXT_OF_CARD = tuple(rank + suit for suit in SUITS for rank in RANKS)


def parse_card(text: Card) -> int:
    """The id of a card given as text, for example ``parse_card("5H") == 30``. An id is checked and returned.

    Raises:
        ValueError: it is not a card; the message names it.
    """
    if isinstance(text, str):
        card = _CARD_OF_TEXT.get(text.strip().upper())
        if card is None:
            raise ValueError(
                f"{text[:40]!r} is not a card: write a rank of {RANKS} (or 10) and a suit of {SUITS}, as in 5H"
            )
        return card
    try:
        card = operator.index(text)
    except TypeError:
        raise ValueError(f"{text!r} is not a card: give text such as '5H' or an id from 0 to 51") from None
    if isinstance(text, (bool, np.bool_)) or not 0 <= card < N_CARDS:
        raise ValueError(f"{text!r} is not a card: ids run from 0 to 51")
    return card


def parse_cards(text: str | Iterable[Card]) -> list[int]:
    """The ids of several different cards: text such as ``"5H JD"``, ``"5H,JD"`` or ``"5HJD"``, or an iterable of cards.

    Raises:
        ValueError: one of them is not a card, or a card is repeated; the message names it.
    """
    parts: Iterable[Card] = _separated(text) if isinstance(text, str) else text
    cards: list[int] = []
    for part in parts:
        card = parse_card(part)
        if card in cards:
            raise ValueError(f"{format_card(card)} is given twice: a deck holds every card once")
        cards.append(card)
    return cards


def _separated(text: str) -> Iterator[str]:
    """The words of a text; words that are cards without spaces are split into cards."""
    for part in text.replace(",", " ").split():
        cards = _CARD.findall(part)
        yield from cards if "".join(cards) == part else [part]


def format_card(card: SupportsIndex) -> str:
    """A card as text, for example ``format_card(30) == "5H"``.

    Raises:
        ValueError: the number is not an id from 0 to 51; the message names it.
    """
    return _TEXT_OF_CARD[parse_card(card)]


def format_cards(cards: Iterable[SupportsIndex]) -> str:
    """Cards as text with a space between them."""
    return " ".join(format_card(card) for card in cards)


def by_rank(cards: Iterable[int]) -> tuple[int, ...]:
    """Cards sorted by rank, as people hold them, without the -1 of empty places."""
    return tuple(sorted((int(card) for card in cards if card >= 0), key=lambda card: (card % 13, card)))


def read_card(action: Any) -> int:
    """An integer, or an integer array of one element (Stable-Baselines3's ``predict`` returns one), as an int.

    Whether it is a card's id is not checked. Anything else raises ``TypeError``.
    """
    if not isinstance(action, bool):
        try:
            return operator.index(action)
        except TypeError:  # NumPy refuses arrays of one element
            array = np.asarray(action) if hasattr(action, "__array__") else None
            if array is not None and array.size == 1 and array.dtype.kind in "iu":
                return int(array.item())
    raise TypeError(f"{action!r} is not the id of a card: give an integer, or an integer array of one element")


def name_card(card: int) -> str:
    """The name of a chosen card for an error message, or the bare number if it is not a card."""
    return f"{format_card(card)} (action {card})" if 0 <= card < N_CARDS else str(card)
