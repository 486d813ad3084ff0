"""The cards as SVG: rank and suit, large enough to be read where the whole table is 300 pixels wide."""

from __future__ import annotations

from functools import lru_cache

from crib_env.cards import RANKS, format_card
from crib_env.picture.colours import Palette
from crib_env.picture.drawing import Part
from crib_env.picture.letters import strokes, suit_shape, width_of

WIDTH, HEIGHT = 84, 118
HIDDEN = -1  # a card that lies face down

_RANK_NAMES = ("ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king")
_SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
# Filled shapes, 24 wide: a shield for the jack, crowns for queen and king.
_SIGNS = {
    10: "M2 0H22V10C22 17 17 21 12 23C7 21 2 17 2 10Z",
    11: "M1 22V17.5H23V22ZM1.5 15L0 6C3 8.5 6.5 8 8 4C9.5 7 14.5 7 16 4C17.5 8 21 8.5 24 6L22.5 15Z"
    "M12 .5A2 2 0 1 0 12.01 .5Z",
    12: "M1 22V17.5H23V22ZM1.5 15L0 3L6.5 8.5L12 0L17.5 8.5L24 3L22.5 15Z",
}


def card_name(card: int) -> str:
    """A card as it is read aloud, for example ``five of hearts``."""
    return "face-down card" if card == HIDDEN else f"{_RANK_NAMES[card % 13]} of {_SUIT_NAMES[card // 13]}"


def rank_text(card: int) -> str:
    """The rank as it stands on the card: A, 2 … 10, J, Q, K."""
    return "10" if card % 13 == 9 else RANKS[card % 13]


def draw_card(
    card: int, x: float, y: float, palette: Palette, *, classes: tuple[str, ...] = (), opacity: float = 1
) -> Part:
    """A card with its upper left corner at (x, y)."""
    named = "" if card == HIDDEN else f' data-card="{format_card(card)}"'
    use = f'<title>{card_name(card)}</title><use href="#{_id(card)}"/>'
    svg = f'<g class="{" ".join(["card", *classes])}"{named}>{use}</g>'
    return Part(svg, x, y, WIDTH, HEIGHT, opacity, card_face(card, palette))


@lru_cache(maxsize=256)
def card_face(card: int, palette: Palette) -> str:
    """The SVG definition of a card, whose id is its text, or ``back``."""
    return f'<g id="{_id(card)}">{_face(card, palette)}</g>'


def _id(card: int) -> str:
    return "back" if card == HIDDEN else format_card(card)


def _face(card: int, palette: Palette) -> str:
    if card == HIDDEN:
        return _back(palette)
    colour, rank = palette.suits[card // 13], rank_text(card)
    height = 36
    tens = rank == "10"
    x = 10 if tens else 25 - width_of(rank, height) / 2
    index = strokes(rank, x, 13, height)
    pips = suit_shape(card // 13, 25, 67, 22) + suit_shape(card // 13, 57, 90, 41)
    sign = f'<path transform="translate(46 20)" d="{_SIGNS[card % 13]}" fill="{colour}"/>' if card % 13 > 9 else ""
    return (
        _sheet(palette)
        + f'<path d="{index}" fill="none" stroke="{colour}" stroke-width="{5.2 if tens else 5.8}"/>'
        + f'<path d="{pips}" fill="{colour}"/>{sign}'
    )


def _sheet(palette: Palette) -> str:
    return (
        f'<rect x=".75" y=".75" width="{WIDTH - 1.5}" height="{HEIGHT - 1.5}" rx="9" fill="{palette.card}" '
        f'stroke="{palette.card_edge}" stroke-width="1.5"/>'
    )


def _back(palette: Palette) -> str:
    """The back of a card: diamonds within a frame."""
    diamonds = [f"M{x} {y}l6 9-6 9-6-9z" for y in range(14, HEIGHT - 26, 18) for x in range(18, WIDTH - 12, 16)]
    return (
        _sheet(palette)
        + f'<rect x="7" y="7" width="{WIDTH - 14}" height="{HEIGHT - 14}" rx="5" fill="{palette.back}"/>'
        + f'<path d="{"".join(diamonds)}" fill="{palette.back_line}"/>'
    )
