"""The whole table as SVG: board, hands, crib, starter, the cards laid with their counts, and the last points.

Everything, including letters, is drawn with paths, so it looks the same everywhere and needs no font. Each card is a
group of class ``card`` with its text in ``data-card`` (none if it lies face down) and its name as title. While its
player acts, a card is also of class ``legal`` if it may be discarded or laid, else of class ``barred``.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from crib_env.picture.board import draw_board, draw_pegs
from crib_env.picture.cards import HEIGHT as CARD_HEIGHT
from crib_env.picture.cards import HIDDEN, card_at, card_faces, rank_text
from crib_env.picture.cards import WIDTH as CARD_WIDTH
from crib_env.picture.colours import LIGHT, Palette
from crib_env.picture.letters import fitted, short, strokes, suit_shape, width_of
from crib_env.picture.seen import Counted, Laid, Side, Table
from crib_env.scoring import ShowItem

WIDTH, HEIGHT = 960, 720

_LEFT, _RIGHT = 20, 940
_ABOVE, _BELOW = 194, 530  # the rows of the two hands
_HAND = 226
_LAID = (334, 360)  # cards of the play, of the seat above and of the seat below
_LAID_STEP = 76
_MIDDLE = 406
_STARTER = (_RIGHT - CARD_WIDTH - 6, 347)


def draw_table(table: Table, palette: Palette = LIGHT) -> str:
    """The table as an SVG picture of 960 by 720."""
    faces = card_faces(cards_on(table), palette, "")
    return f"{svg_start(spoken(table))}<defs>{faces}</defs>{''.join(draw_parts(table, palette))}</svg>"


def svg_start(title: str, width: int = WIDTH, height: int = HEIGHT) -> str:
    """The opening tag, with a title for screen readers."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'stroke-linecap="round" stroke-linejoin="round"><title>{escape(title)}</title>'
    )


def cards_on(table: Table) -> set[int]:
    """The cards that a picture of the table shows, ``HIDDEN`` among them."""
    laid = [laid.card for laid in table.laid]
    starter = HIDDEN if table.starter is None else table.starter
    return {HIDDEN, starter, *table.crib, *laid, *table.sides[0].hand, *table.sides[1].hand}


def spoken(table: Table) -> str:
    """The table in one line of text, for screen readers."""
    scores = ", ".join(f"{side.name} {side.score}{' (dealer)' * side.is_dealer}" for side in table.sides)
    return f"Cribbage: {scores}. {table.caption}"


def draw_parts(table: Table, palette: Palette) -> list[str]:
    """The parts of the picture from back to front, without the definitions, which :func:`card_faces` gives.

    Two pictures of a game in a row share many of these parts.
    """
    below, above = table.below, 1 - table.below
    middle = _show(table.counted, palette) if table.counted else _play(table.laid, table, palette)
    return [
        f'<rect class="felt" width="{WIDTH}" height="{HEIGHT}" fill="{palette.felt}"/>',
        draw_board(below, palette),
        draw_pegs(table.sides[above], False, palette.seats[above], palette),
        draw_pegs(table.sides[below], True, palette.seats[below], palette),
        _row(table, above, _ABOVE, palette),
        middle,
        "" if table.starter is None else draw_starter(table.starter, *_STARTER, table.counted is not None, palette),
        _row(table, below, _BELOW, palette),
        draw_text(table.caption, WIDTH / 2, 669, 22, palette.ink, "middle", _RIGHT - _LEFT),
    ]


def _row(table: Table, seat: int, y: float, palette: Palette) -> str:
    """A player's name plate and hand, and the dealer's crib."""
    side, counted = table.sides[seat], table.counted
    step = 86 if len(side.hand) > 4 else 92
    hand = "".join(card_at(card, _HAND + step * k, y, "", _state(card, side)) for k, card in enumerate(side.hand))
    parts = [_plate(side, y, palette.seats[seat], palette)]
    if counted and counted.seat == seat and counted.kind != "crib":
        parts.append(draw_lit(_HAND, y, step * (len(side.hand) - 1) + CARD_WIDTH, palette))
    parts.append(f'<g class="hand">{hand}</g>')
    if side.is_dealer and table.crib:
        step = 34 if len(side.hand) > 4 else 76
        x = _RIGHT - CARD_WIDTH - step * (len(table.crib) - 1)
        if counted and counted.kind == "crib":
            parts.append(draw_lit(x, y, _RIGHT - x, palette))
        crib = "".join(card_at(card, x + step * k, y, "") for k, card in enumerate(table.crib))
        parts.append(f'<g class="crib">{crib}</g>' + draw_pill("CRIB", (x + _RIGHT) / 2, y + CARD_HEIGHT - 6, palette))
    return "".join(parts)


def _state(card: int, side: Side) -> str:
    if card in side.legal:
        return "legal"
    return "barred" if side.legal else ""


def _plate(side: Side, y: float, colour: str, palette: Palette) -> str:
    edge = f' stroke="{palette.lit}" stroke-width="5"' if side.acts else ""
    parts = [
        f'<rect x="{_LEFT}" y="{y}" width="186" height="{CARD_HEIGHT}" rx="12" fill="{palette.plate}"{edge}/>',
        f'<path d="M{_LEFT + 14} {y + 18}V{y + CARD_HEIGHT - 18}" fill="none" stroke="{colour}" stroke-width="10"/>',
        draw_text(side.name, _LEFT + 34, y + 16, 18, palette.ink, "start", 142),
        draw_text(str(side.score), _LEFT + 34, y + 45, 41, palette.ink, "start", 142),
    ]
    if side.is_dealer:
        parts.append(draw_pill("DEALER", _LEFT + 137, y + 102, palette))
    if side.says_go:
        parts.append(draw_pill("GO", _LEFT + 154, y + 66, palette, palette.lit))
    return f'<g class="player">{"".join(parts)}</g>'


def _play(laid: tuple[Laid, ...], table: Table, palette: Palette) -> str:
    """The cards laid, in order, each on its player's side, with the count under it; and the current count."""
    parts = []
    for k, card in enumerate(laid):
        x, y = _HAND + _LAID_STEP * k, _LAID[card.seat == table.below]
        said = f"{card.count} +{card.points}" if card.points else str(card.count)
        colour = palette.seats[card.seat]
        dim = ' opacity="0.45"' if card.is_past else ""
        parts.append(
            f"<g{dim}>{card_at(card.card, x, y, '', 'laid')}"
            f"{draw_text(said, x + CARD_WIDTH / 2 - 4, 487, 19, colour, 'middle', _LAID_STEP)}</g>"
        )
    if table.count is None:
        return ""
    count = draw_text("COUNT", 113, _MIDDLE - 42, 15, palette.faint, "middle", 120)
    count += draw_text(str(table.count), 113, _MIDDLE - 14, 52, palette.ink, "middle", 120)
    return f'<g class="play">{"".join(parts)}</g><g class="count">{count}</g>'


def _show(counted: Counted, palette: Palette) -> str:
    """The combinations and points of a hand or crib in the show."""
    total = draw_text(counted.kind, 113, _MIDDLE - 42, 15, palette.faint, "middle", 170)
    total += draw_text(str(counted.points), 113, _MIDDLE - 14, 52, palette.seats[counted.seat], "middle", 120)
    return f'<g class="show">{total}{draw_items(counted.items, _HAND, 335, palette)}</g>'


def draw_items(items: Sequence[ShowItem], x: float, y: float, palette: Palette) -> str:
    """The combinations of a hand, six to a column."""
    parts = [] if items else [draw_text("nothing", x, y, 19, palette.ink, "start", 160)]
    for k, item in enumerate(items):
        left, top = x + 330 * (k // 6), y + 29 * (k % 6)
        parts += [_small_card(card, left + 42 * j, top, palette) for j, card in enumerate(item.cards)]
        left += 42 * len(item.cards) + 8
        parts.append(draw_text(f"{item.kind} +{item.points}", left, top + 6, 15, palette.ink, "start", 170))
    return "".join(parts)


def _small_card(card: int, x: float, y: float, palette: Palette) -> str:
    colour = palette.suits[card // 13]
    return (
        f'<rect x="{x}" y="{y}" width="39" height="26" rx="5" fill="{palette.card}"/>'
        + draw_text(rank_text(card), x + 12, y + 6, 14, colour, "middle", 20)
        + f'<path d="{suit_shape(card // 13, x + 29, y + 13, 13.5)}" fill="{colour}"/>'
    )


def draw_starter(starter: int, x: float, y: float, is_lit: bool, palette: Palette) -> str:
    """The deck with the starter or a card back on top."""
    deck = "".join(
        f'<rect x="{x - 0.75 + d}" y="{y - 0.75 + d}" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="9" '
        f'fill="{palette.card}" stroke="{palette.card_edge}" stroke-width="1.5"/>'
        for d in (6, 3)
    )
    name = draw_pill("STARTER", x + CARD_WIDTH / 2, y + CARD_HEIGHT + 2, palette)
    lit = draw_lit(x, y, CARD_WIDTH, palette) if is_lit else ""
    return f'<g class="starter">{lit}{deck}{card_at(starter, x, y, "")}{name}</g>'


def draw_lit(x: float, y: float, width: float, palette: Palette) -> str:
    """A bright frame that makes the cards on it stand out."""
    return (
        f'<rect x="{x - 6}" y="{y - 6}" width="{width + 12}" height="{CARD_HEIGHT + 12}" rx="14" fill="{palette.lit}"/>'
    )


def draw_pill(text: str, x: float, y: float, palette: Palette, fill: str | None = None) -> str:
    """A label, centred at (x, y)."""
    width = width_of(text, 13) + 20
    ink = palette.ink if fill is None else "#1f2a26"
    return (
        f'<rect x="{short(x - width / 2)}" y="{short(y - 12)}" width="{short(width)}" height="24" rx="12" '
        f'fill="{fill or palette.plate}" stroke="{palette.faint}" stroke-width="1.5"/>'
        f'<path d="{strokes(text, x - width / 2 + 10, y - 6.5, 13)}" fill="none" stroke="{ink}" stroke-width="2.1"/>'
    )


def draw_text(text: str, x: float, y: float, height: float, colour: str, anchor: str, width: float) -> str:
    """A text whose top is at y, scaled to fit into a width."""
    text, smaller = fitted(text, height, width)
    y, height = y + (height - smaller) / 2, smaller
    x -= {"start": 0, "middle": 0.5, "end": 1}[anchor] * width_of(text, height)
    path = strokes(text, x, y, height)
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{short(height * 0.13)}"/>'
