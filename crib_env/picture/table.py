"""The whole table: board, hands, crib, starter, the cards laid with their counts, and the last points; and the smaller
one of the discard game.

Each card is a group of class ``card`` with its text in ``data-card`` (none if it lies face down) and its name as title.
While its player acts, a card is also of class ``legal`` if it may be discarded or laid, else pale and of class
``barred``.
"""

from __future__ import annotations

from collections.abc import Sequence

from crib_env.picture.board import draw_board, draw_pegs
from crib_env.picture.cards import HEIGHT as CARD_HEIGHT
from crib_env.picture.cards import HIDDEN, draw_card, rank_text
from crib_env.picture.cards import WIDTH as CARD_WIDTH
from crib_env.picture.colours import LIGHT, Palette
from crib_env.picture.drawing import Drawing, Part, draw_box, draw_felt, draw_pill, draw_text
from crib_env.picture.letters import suit_shape
from crib_env.picture.seen import Counted, Laid, Side, Table, by_rank
from crib_env.scoring import ShowItem, explain_show

WIDTH, HEIGHT = 960, 720

_LEFT, _RIGHT = 20, 940
_ABOVE, _BELOW = 194, 530  # the rows of the two hands
_HAND = 226
_LAID = (334, 360)  # cards of the play, of the seat above and of the seat below
_LAID_STEP = 76
_MIDDLE = 406
_STARTER = (_RIGHT - CARD_WIDTH - 6, 347)


def draw_table(table: Table, palette: Palette = LIGHT) -> Drawing:
    """The table as a drawing of 960 by 720."""
    below, above = table.below, 1 - table.below
    middle = _show(table.counted, palette) if table.counted else _play(table.laid, table, palette)
    parts = [
        *draw_pegs(table.sides[above], False, palette.seats[above], palette),
        *draw_pegs(table.sides[below], True, palette.seats[below], palette),
        *_row(table, above, _ABOVE, palette),
        *middle,
        *([] if table.starter is None else draw_starter(table.starter, *_STARTER, table.counted is not None, palette)),
        *_row(table, below, _BELOW, palette),
        draw_text(table.caption, WIDTH / 2, 669, 22, palette.ink, "middle", _RIGHT - _LEFT),
    ]
    return Drawing(
        spoken(table), WIDTH, HEIGHT, draw_felt(WIDTH, HEIGHT, palette) + draw_board(below, palette), tuple(parts)
    )


def spoken(table: Table) -> str:
    """The table in one line of text, for screen readers."""
    scores = ", ".join(f"{side.name} {side.score}{' (dealer)' * side.is_dealer}" for side in table.sides)
    return f"Cribbage: {scores}. {table.caption}"


def _row(table: Table, seat: int, y: float, palette: Palette) -> list[Part]:
    """A player's name plate and hand, and the dealer's crib."""
    side, counted = table.sides[seat], table.counted
    step = 86 if len(side.hand) > 4 else 92
    parts = _plate(side, y, palette.seats[seat], palette)
    if counted and counted.seat == seat and counted.kind != "crib":
        parts.append(draw_lit(_HAND, y, step * (len(side.hand) - 1) + CARD_WIDTH, palette))
    for k, card in enumerate(side.hand):
        is_barred = bool(side.legal) and card not in side.legal
        classes = ("barred",) * is_barred + ("legal",) * (card in side.legal)
        opacity = 0.5 if is_barred else 1
        parts.append(draw_card(card, _HAND + step * k, y, palette, classes=classes, opacity=opacity))
    if side.is_dealer and table.crib:
        step = 34 if len(side.hand) > 4 else 76
        x = _RIGHT - CARD_WIDTH - step * (len(table.crib) - 1)
        if counted and counted.kind == "crib":
            parts.append(draw_lit(x, y, _RIGHT - x, palette))
        parts += [draw_card(card, x + step * k, y, palette) for k, card in enumerate(table.crib)]
        parts += draw_pill("CRIB", (x + _RIGHT) / 2, y + CARD_HEIGHT - 6, palette)
    return parts


def _plate(side: Side, y: float, colour: str, palette: Palette) -> list[Part]:
    stripe = f'<path d="M5 5V{CARD_HEIGHT - 31}" fill="none" stroke="{colour}" stroke-width="10"/>'
    parts = [
        draw_box(_LEFT, y, 186, CARD_HEIGHT, 12, palette.plate, palette.lit if side.acts else "", 5 * side.acts),
        Part(stripe, _LEFT + 9, y + 13, 10, CARD_HEIGHT - 26),
        draw_text(side.name, _LEFT + 34, y + 16, 18, palette.ink, "start", 142),
        draw_text(str(side.score), _LEFT + 34, y + 45, 41, palette.ink, "start", 142),
    ]
    if side.is_dealer:
        parts += draw_pill("DEALER", _LEFT + 137, y + 102, palette)
    if side.says_go:
        parts += draw_pill("GO", _LEFT + 154, y + 66, palette, palette.lit)
    return parts


def _play(laid: tuple[Laid, ...], table: Table, palette: Palette) -> list[Part]:
    """The cards laid, in order, each on its player's side, with the count under it; and the current count."""
    if table.count is None:
        return []
    parts = []
    for k, card in enumerate(laid):
        x, y = _HAND + _LAID_STEP * k, _LAID[card.seat == table.below]
        said = f"{card.count} +{card.points}" if card.points else str(card.count)
        opacity = 0.45 if card.is_past else 1
        parts.append(draw_card(card.card, x, y, palette, classes=("laid",), opacity=opacity))
        count = draw_text(said, x + CARD_WIDTH / 2 - 4, 487, 19, palette.seats[card.seat], "middle", _LAID_STEP)
        parts.append(count._replace(opacity=opacity))
    return [
        *parts,
        draw_text("COUNT", 113, _MIDDLE - 42, 15, palette.faint, "middle", 120),
        draw_text(str(table.count), 113, _MIDDLE - 14, 52, palette.ink, "middle", 120),
    ]


def _show(counted: Counted, palette: Palette) -> list[Part]:
    """The combinations and points of a hand or crib in the show."""
    return [
        draw_text(counted.kind, 113, _MIDDLE - 42, 15, palette.faint, "middle", 170),
        draw_text(str(counted.points), 113, _MIDDLE - 14, 52, palette.seats[counted.seat], "middle", 120),
        *draw_items(counted.items, _HAND, 335, palette),
    ]


def draw_items(items: Sequence[ShowItem], x: float, y: float, palette: Palette) -> list[Part]:
    """The combinations of a hand, six to a column."""
    parts = [] if items else [draw_text("nothing", x, y, 19, palette.ink, "start", 160)]
    for k, item in enumerate(items):
        left, top = x + 330 * (k // 6), y + 29 * (k % 6)
        for j, card in enumerate(item.cards):
            parts += _small_card(card, left + 42 * j, top, palette)
        left += 42 * len(item.cards) + 8
        parts.append(draw_text(f"{item.kind} +{item.points}", left, top + 6, 15, palette.ink, "start", 170))
    return parts


def _small_card(card: int, x: float, y: float, palette: Palette) -> list[Part]:
    colour = palette.suits[card // 13]
    suit = f'<path d="{suit_shape(card // 13, 7, 7, 13.5)}" fill="{colour}"/>'
    return [
        draw_box(x, y, 39, 26, 5, palette.card),
        draw_text(rank_text(card), x + 12, y + 6, 14, colour, "middle", 20),
        Part(suit, x + 22, y + 6, 14, 14),
    ]


def draw_starter(starter: int, x: float, y: float, is_lit: bool, palette: Palette) -> list[Part]:
    """The deck with the starter or a card back on top."""
    return [
        *([draw_lit(x, y, CARD_WIDTH, palette)] if is_lit else []),
        *(
            draw_box(x - 0.75 + d, y - 0.75 + d, CARD_WIDTH, CARD_HEIGHT, 9, palette.card, palette.card_edge, 1.5)
            for d in (6, 3)
        ),
        draw_card(starter, x, y, palette),
        *draw_pill("STARTER", x + CARD_WIDTH / 2, y + CARD_HEIGHT + 2, palette),
    ]


def draw_lit(x: float, y: float, width: float, palette: Palette) -> Part:
    """A bright frame that makes the cards on it stand out."""
    return draw_box(x - 6, y - 6, width + 12, CARD_HEIGHT + 12, 14, palette.lit)


def draw_discard_game(hand: Sequence[int], discards: Sequence[int], starter: int, palette: Palette = LIGHT) -> Drawing:
    """The game as a drawing of 960 by 440; ``starter`` is ``HIDDEN`` until it is cut."""
    (hand, discards), left, right, top, step = map(by_rank, (hand, discards)), 40, 926, 260, 90
    middle: list[Part] = []
    if starter == HIDDEN:
        said = f"discard {len(hand) - 4} of {len(hand)} cards" if len(hand) > 4 else "the episode is over"
    else:
        items = explain_show(hand, starter)
        said = f"{sum(item.points for item in items)} points"
        middle = draw_items(items, left, 60, palette)
        middle.append(draw_lit(left, top, 3 * step + CARD_WIDTH, palette))
    classes = () if len(hand) == 4 else ("legal",)
    x = right - CARD_WIDTH - step * (len(discards) - 1)
    parts = [
        draw_text(said, left, 20, 24, palette.ink, "start", 600),
        *middle,
        *draw_starter(starter, right - CARD_WIDTH, 60, starter != HIDDEN, palette),
        *(draw_card(card, left + step * k, top, palette, classes=classes) for k, card in enumerate(hand)),
        *(draw_card(card, x + step * k, top, palette) for k, card in enumerate(discards)),
    ]
    if discards:
        parts += draw_pill("DISCARDED", (x + right) / 2, top + CARD_HEIGHT - 6, palette)
    return Drawing(f"The discard game: {said}", WIDTH, 440, draw_felt(WIDTH, 440, palette), tuple(parts))
