"""The discard game as SVG: the hand, the discards, and at the end the starter and the points of the kept four."""

from __future__ import annotations

from collections.abc import Sequence

from crib_env.picture.cards import HEIGHT as CARD_HEIGHT
from crib_env.picture.cards import HIDDEN, card_at, card_faces
from crib_env.picture.cards import WIDTH as CARD_WIDTH
from crib_env.picture.colours import LIGHT, Palette
from crib_env.picture.table import draw_items, draw_lit, draw_pill, draw_starter, draw_text, svg_start
from crib_env.scoring import explain_show

WIDTH, HEIGHT = 960, 440

_LEFT, _RIGHT, _STEP = 40, 926, 90
_HAND = 260


def draw_discard_game(hand: Sequence[int], discards: Sequence[int], starter: int, palette: Palette = LIGHT) -> str:
    """The game as an SVG picture of 960 by 440; ``starter`` is ``HIDDEN`` until it is cut."""
    hand, discards = sorted(hand, key=_by_rank), sorted(discards, key=_by_rank)
    if starter == HIDDEN:
        said = f"discard {len(hand) - 4} of {len(hand)} cards" if len(hand) > 4 else "the episode is over"
        middle = ""
    else:
        items = explain_show(hand, starter)
        said = f"{sum(item.points for item in items)} points"
        middle = draw_items(items, _LEFT, 60, palette) + draw_lit(_LEFT, _HAND, 3 * _STEP + CARD_WIDTH, palette)
    cards = [
        card_at(card, _LEFT + _STEP * k, _HAND, "", "" if len(hand) == 4 else "legal") for k, card in enumerate(hand)
    ]
    x = _RIGHT - CARD_WIDTH - _STEP * (len(discards) - 1)
    cards += [card_at(card, x + _STEP * k, _HAND, "") for k, card in enumerate(discards)]
    if discards:
        cards.append(draw_pill("DISCARDED", (x + _RIGHT) / 2, _HAND + CARD_HEIGHT - 6, palette))
    return (
        svg_start(f"The discard game: {said}", WIDTH, HEIGHT)
        + f"<defs>{card_faces({HIDDEN, starter, *hand, *discards}, palette, '')}</defs>"
        + f'<rect class="felt" width="{WIDTH}" height="{HEIGHT}" fill="{palette.felt}"/>'
        + draw_text(said, _LEFT, 20, 24, palette.ink, "start", 600)
        + middle
        + draw_starter(starter, _RIGHT - CARD_WIDTH, 60, starter != HIDDEN, palette)
        + "".join(cards)
        + "</svg>"
    )


def _by_rank(card: int) -> tuple[int, int]:
    return card % 13, card
