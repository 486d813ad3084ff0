"""The board and the cards of the page, as SVG."""

from __future__ import annotations

from crib_env.cards import JACK, format_card
from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.picture.drawing import BOARD, END, LANE, ROWS, hole_at, lane, rank_text

# Pips of the upper half, to the right of its index, by how many there are; an odd one more is in the middle.
_PIPS = (
    (),
    ((58, 31),),
    ((48, 27), (68, 27)),
    ((48, 18), (68, 18), (58, 38)),
    ((48, 19), (68, 19), (48, 41), (68, 41)),
    ((48, 15), (68, 15), (58, 29), (48, 43), (68, 43)),
)


def card_faces() -> str:
    """The faces of all cards and the back, each a definition whose id is the card as text, or ``back``."""
    faces = "".join(f'<g id="{format_card(card)}">{_sheet()}{_face(card)}</g>' for card in range(52))
    diamonds = "".join(f"M{x} {y}l6 9-6 9-6-9z" for y in range(14, 92, 18) for x in range(18, 72, 16))
    inner = '<rect x="7" y="7" width="70" height="104" rx="5" fill="var(--back)"/>'
    return f'{faces}<g id="back">{_sheet()}{inner}<path d="{diamonds}" fill="var(--back-line)"/></g>'


def _sheet() -> str:
    edge = 'fill="var(--card)" stroke="var(--card-edge)" stroke-width="1.5"'
    return f'<rect x=".75" y=".75" width="82.5" height="116.5" rx="9" {edge}/>'


def _face(card: int) -> str:
    """A face is the same upside down: an index, and pips or a court figure, in each half."""
    (suit, rank), fill = divmod(card, 13), ("clubs", "diamonds", "hearts", "spades")[card // 13]
    text, narrow = rank_text(card), ' textLength="31" lengthAdjust="spacingAndGlyphs"'
    size = f'x="19" y="37" font-size="40" font-weight="700" text-anchor="middle"{narrow * (len(rank_text(card)) - 1)}'
    half = f"<text {size}>{text}</text>{_pip(suit, 18, 49, 14)}"
    if rank >= JACK:
        half += f'<use href="#court-{rank}"/>'
    else:
        half += "".join(_pip(suit, x, y, 17) for x, y in _PIPS[(rank + 1) // 2])
    middle = _pip(suit, 42, 59, 33 if rank == 0 else 17) if rank % 2 == 0 and rank < JACK else ""
    return f'<g fill="var(--{fill})">{middle}{half}<g transform="rotate(180 42 59)">{half}</g></g>'


def _pip(suit: int, x: int, y: int, size: int) -> str:
    return f'<use href="#suit-{suit}" transform="translate({x - size / 2} {y - size / 2})scale({size / 10})"/>'


def board(below: int) -> str:
    """The board, with the place of its pegs; ``below`` is the seat whose lane is the lower one."""
    x, y, width, height = BOARD
    height += 5  # for what stands below the last row
    lanes, places = "", [hole_at(hole, is_below) for is_below in (False, True) for hole in range(-1, WIN + 1)]
    for is_below in (False, True):
        path = "L".join(f"{across:.2f} {down:.2f}" for across, down in lane(is_below))
        lanes += _line(f"M{path}", 17, f"var(--lane-{below if is_below else 1 - below})")
    skunks = "".join(
        f"M{(hole_at(score, True)[0] + hole_at(score + 1, True)[0]) / 2:g} {ROWS[score // 40] - 18}v36"
        for score in (DOUBLE_SKUNK, SKUNK)
    )
    tens = "".join(
        f'<text x="{hole_at(hole, True)[0]:g}" y="{ROWS[(hole - 1) // 40] + 3 * LANE}">{hole}</text>'
        for hole in range(10, WIN, 10)
    )
    streets = zip(("first street", "second street", "third street", "fourth street"), range(15, WIN, 30))
    names = "".join(
        f'<text x="{hole_at(hole, True)[0]:g}" y="{ROWS[(hole - 1) // 40] + 3 * LANE}" font-weight="700">{name}</text>'
        for name, hole in (*streets, ("double skunk", DOUBLE_SKUNK + 5), ("skunk", SKUNK + 4))
    )
    holes = "".join(f"M{across:g} {down:g}h0" for across, down in places)
    return (
        f'<svg id="board" viewBox="{x} {y} {width} {height}" role="img" stroke-linecap="round">'
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="20" fill="var(--wood)"/>{lanes}'
        f'<g font-size="10" text-anchor="middle" fill="var(--hole)">{tens}{names}</g>{_line(skunks, 3, "var(--hole)")}'
        f'<path class="holes" d="{holes}" fill="none" stroke="var(--hole)" stroke-width="6.4"/>'
        f'<circle cx="{END[0]}" cy="{END[1]}" r="13" fill="var(--lit)"/>'
        f'<circle cx="{END[0]}" cy="{END[1]}" r="5" fill="var(--hole)"/><g id="pegs"></g></svg>'
    )


def _line(path: str, width: float, colour: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
