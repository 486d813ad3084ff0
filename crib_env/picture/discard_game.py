"""A drawing of the discard game: the hand, the discards, and at the end the starter and the points of the kept four."""

from __future__ import annotations

from collections.abc import Sequence

from crib_env.picture.cards import HEIGHT as CARD_HEIGHT
from crib_env.picture.cards import HIDDEN, draw_card
from crib_env.picture.cards import WIDTH as CARD_WIDTH
from crib_env.picture.colours import LIGHT, Palette
from crib_env.picture.drawing import Drawing, Part, draw_felt, draw_pill, draw_text
from crib_env.picture.table import draw_items, draw_lit, draw_starter
from crib_env.scoring import explain_show

WIDTH, HEIGHT = 960, 440

_LEFT, _RIGHT, _STEP = 40, 926, 90
_HAND = 260


def draw_discard_game(hand: Sequence[int], discards: Sequence[int], starter: int, palette: Palette = LIGHT) -> Drawing:
    """The game as a drawing of 960 by 440; ``starter`` is ``HIDDEN`` until it is cut."""
    hand, discards = sorted(hand, key=_by_rank), sorted(discards, key=_by_rank)
    middle: list[Part] = []
    if starter == HIDDEN:
        said = f"discard {len(hand) - 4} of {len(hand)} cards" if len(hand) > 4 else "the episode is over"
    else:
        items = explain_show(hand, starter)
        said = f"{sum(item.points for item in items)} points"
        middle = draw_items(items, _LEFT, 60, palette)
        middle.append(draw_lit(_LEFT, _HAND, 3 * _STEP + CARD_WIDTH, palette))
    classes = () if len(hand) == 4 else ("legal",)
    x = _RIGHT - CARD_WIDTH - _STEP * (len(discards) - 1)
    parts = [
        draw_text(said, _LEFT, 20, 24, palette.ink, "start", 600),
        *middle,
        *draw_starter(starter, _RIGHT - CARD_WIDTH, 60, starter != HIDDEN, palette),
        *(draw_card(card, _LEFT + _STEP * k, _HAND, palette, classes=classes) for k, card in enumerate(hand)),
        *(draw_card(card, x + _STEP * k, _HAND, palette) for k, card in enumerate(discards)),
    ]
    if discards:
        parts += draw_pill("DISCARDED", (x + _RIGHT) / 2, _HAND + CARD_HEIGHT - 6, palette)
    return Drawing(f"The discard game: {said}", WIDTH, HEIGHT, draw_felt(WIDTH, HEIGHT, palette), tuple(parts))


def _by_rank(card: int) -> tuple[int, int]:
    return card % 13, card
