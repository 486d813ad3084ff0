"""Cards as integers and as text.

A card is ``13 * suit + rank``: suits C D H S are 0..3, ranks A 2 … 9 T J Q K are 0..12. As text a card is its rank
and its suit, ``"5H"`` or ``"TD"``; ``"10D"`` is read too, and upper and lower case are the same.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import SupportsIndex, TypeAlias

import numpy as np

RANKS = "A23456789TJQK"
SUITS = "CDHS"
N_CARDS = 52
JACK = 10

Card: TypeAlias = "str | SupportsIndex"
"""A card as text or as an id, as every public function accepts it."""

_CARD_OF_TEXT = {rank + suit: 13 * s + r for s, suit in enumerate(SUITS) for r, rank in enumerate(RANKS)}
_CARD_OF_TEXT |= {"10" + suit: 13 * s + 9 for s, suit in enumerate(SUITS)}
_TEXT_OF_CARD = tuple(rank + suit for suit in SUITS for rank in RANKS)


def parse_card(text: Card) -> int:
    """The id of a card given as text, for example ``parse_card("5H") == 30``. An id is checked and given back.

    Raises:
        ValueError: it is no card; the message names it.
    """
    if isinstance(text, str):
        card = _CARD_OF_TEXT.get(text.strip().upper())
        if card is None:
            raise ValueError(f"{text!r} is not a card: write a rank of {RANKS} (or 10) and a suit of {SUITS}, as in 5H")
        return card
    try:
        card = operator.index(text)
    except TypeError:
        raise ValueError(f"{text!r} is not a card: give text such as '5H' or an id from 0 to 51") from None
    if isinstance(text, (bool, np.bool_)) or not 0 <= card < N_CARDS:
        raise ValueError(f"{text!r} is not a card: ids run from 0 to 51")
    return card


def parse_cards(text: str | Iterable[Card]) -> list[int]:
    """The ids of several different cards: text with spaces or commas between them, or an iterable of cards.

    Raises:
        ValueError: one is no card, or a card stands twice; the message names it.
    """
    parts: Iterable[Card] = text.replace(",", " ").split() if isinstance(text, str) else text
    cards: list[int] = []
    for part in parts:
        card = parse_card(part)
        if card in cards:
            raise ValueError(f"{format_card(card)} stands twice: every card of the deck is there once")
        cards.append(card)
    return cards


def format_card(card: SupportsIndex) -> str:
    """A card as text, for example ``format_card(30) == "5H"``.

    Raises:
        ValueError: no id from 0 to 51.
    """
    return _TEXT_OF_CARD[parse_card(card)]


def format_cards(cards: Iterable[SupportsIndex]) -> str:
    """Cards as text with a space between them."""
    return " ".join(format_card(card) for card in cards)
