"""The board, the cards and the colours of the page, as SVG and CSS."""

from __future__ import annotations

from crib_env.cards import format_card
from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.picture.drawing import BOARD, END, ENDS_OF_ROWS, LANE, LIGHT, ROWS, START, Palette, hole_at, rank_text

DARK = LIGHT._replace(
    felt="#16302a",
    plate="#22443b",
    ink="#eef4f0",
    faint="#9db0a8",
    seat_0="#56b4e9",
    seat_1="#f0a020",
    wood="#6b4a2c",
    lane_0="#466070",
    lane_1="#8f6b34",
    hole="#20150b",
    peg_edge="#10100e",
    card="#f7f4ec",
    card_edge="#0c1612",
    back="#2f4f7a",
    back_line="#6d8db8",
)
FOUR_COLOURS = LIGHT._replace(clubs="#00805c", diamonds="#002db2")
"""With green clubs and blue diamonds, for light and dark."""
# Clubs, diamonds, hearts and spades on a square of ten by ten.
_SUITS = (
    "M7.4 2.6A2.4 2.4 0 0 0 2.6 2.6C2.6 3.2 2.8 3.8 3.2 4.2A2.4 2.4 0 1 0 4.5 7C4.4 8.4 4 9.2 3 9.8H7"
    "C6 9.2 5.6 8.4 5.5 7A2.4 2.4 0 1 0 6.8 4.2C7.2 3.8 7.4 3.2 7.4 2.6Z",
    "M5 -.2C6.2 2 7.4 3.6 9 5C7.4 6.4 6.2 8 5 10.2C3.8 8 2.6 6.4 1 5C2.6 3.6 3.8 2 5 -.2Z",
    "M5 9.9C3 7.6 .2 5.7 .2 3A2.6 2.6 0 0 1 5 1.9A2.6 2.6 0 0 1 9.8 3C9.8 5.7 7 7.6 5 9.9Z",
    "M5 0C6.4 2.4 9.6 4 9.6 6.4A2.3 2.3 0 0 1 5.5 7.5C5.6 8.6 6 9.3 7 9.9H3C4 9.3 4.4 8.6 4.5 7.5A2.3 2.3 0 0 1 .4 6.4"
    "C.4 4 3.6 2.4 5 0Z",
)
# Pips of the upper half, to the right of its index, by how many there are; an odd one more is in the middle.
_PIPS = (
    (),
    ((58, 31),),
    ((48, 27), (68, 27)),
    ((48, 18), (68, 18), (58, 38)),
    ((48, 19), (68, 19), (48, 41), (68, 41)),
    ((48, 15), (68, 15), (58, 29), (48, 43), (68, 43)),
)
# Figures of the upper half: coat and cap have the colour of the suit.
_HAIR, _SKIN, _GOLD = (f' fill="{colour}"/>' for colour in ("#5a3d24", "#f2d3ae", "#d8a31a"))
_BUST = (
    f'<path d="M34 59C35 47 45 43 50 42H62C67 43 77 47 78 59Z"/><path d="M49 42 56 55 63 42Z"{_GOLD}'
    f'<circle cx="56" cy="32" r="9.5"{_SKIN}<path d="M52 31h.1M60 31h.1" stroke="#33251a" stroke-width="2.4"/>'
)
_COURT = {
    10: f'{_BUST}<path d="M46 27C43 33 44 40 47 42L49 30ZM66 27C69 33 68 40 65 42L63 30Z"{_HAIR}'
    f'<path d="M44 27C44 14 53 12 60 14 67 16 68 22 67 27 60 22 52 22 44 27Z"/>'
    f'<path d="M61 16C66 5 75 5 79 11 73 11 70 15 67 20Z"{_GOLD}',
    11: f'<path d="M45 33C42 17 49 16 56 16 63 16 70 17 67 33L70 46C60 50 52 50 42 46Z"{_HAIR}{_BUST}'
    f'<path d="M46 29C48 21 64 21 66 29 68 18 62 17 56 17 50 17 44 18 46 29Z"{_HAIR}'
    f'<path d="M47 21 46 10 51 15 56 8 61 15 66 10 65 21C60 17 52 17 47 21Z"{_GOLD}',
    12: f'{_BUST}<path d="M46 32C46 49 52 51 56 52 60 51 66 49 66 32 63 38 59 37 56 38 53 37 49 38 46 32Z"{_HAIR}'
    f'<path d="M46 25 42 9 50 16 56 6 62 16 70 9 66 25C60 22 52 22 46 25Z"{_GOLD}',
}


def colours() -> str:
    """The style sheet of the colours."""
    two, four = LIGHT._asdict(), FOUR_COLOURS._asdict()
    suits = "".join(f"--{name}:{colour};" for name, colour in four.items() if colour != two[name])
    return (
        f":root{{{_variables(LIGHT)}color-scheme:light}}"
        f"@media(prefers-color-scheme:dark){{:root{{{_variables(DARK)}color-scheme:dark}}}}"
        f":root.four{{{suits}}}"
    )


def _variables(palette: Palette) -> str:
    return "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in palette._asdict().items())


def card_faces() -> str:
    """The faces of all cards and the back, each a definition whose id is the card as text, or ``back``."""
    faces = "".join(f'<g id="{format_card(card)}">{_sheet()}{_face(card)}</g>' for card in range(52))
    diamonds = "".join(f"M{x} {y}l6 9-6 9-6-9z" for y in range(14, 92, 18) for x in range(18, 72, 16))
    inner = '<rect x="7" y="7" width="70" height="104" rx="5" fill="var(--back)"/>'
    suits = "".join(f'<path id="suit-{k}" d="{path}"/>' for k, path in enumerate(_SUITS))
    suits += "".join(f'<g id="court-{rank}">{figure}</g>' for rank, figure in _COURT.items())
    return f'{suits}{faces}<g id="back">{_sheet()}{inner}<path d="{diamonds}" fill="var(--back-line)"/></g>'


def _sheet() -> str:
    edge = 'fill="var(--card)" stroke="var(--card-edge)" stroke-width="1.5"'
    return f'<rect x=".75" y=".75" width="82.5" height="116.5" rx="9" {edge}/>'


def _face(card: int) -> str:
    """A face is the same upside down: an index, and pips or a court figure, in each half."""
    (suit, rank), fill = divmod(card, 13), ("clubs", "diamonds", "hearts", "spades")[card // 13]
    text, narrow = rank_text(card), ' textLength="31" lengthAdjust="spacingAndGlyphs"'
    size = f'x="19" y="37" font-size="40" font-weight="700" text-anchor="middle"{narrow * (len(rank_text(card)) - 1)}'
    half = f"<text {size}>{text}</text>{_pip(suit, 18, 49, 14)}"
    if rank in _COURT:
        half += f'<use href="#court-{rank}"/>'
    else:
        half += "".join(_pip(suit, x, y, 17) for x, y in _PIPS[(rank + 1) // 2])
    middle = _pip(suit, 42, 59, 33 if rank == 0 else 17) if rank % 2 == 0 and rank not in _COURT else ""
    return f'<g fill="var(--{fill})">{middle}{half}<g transform="rotate(180 42 59)">{half}</g></g>'


def _pip(suit: int, x: int, y: int, size: int) -> str:
    return f'<use href="#suit-{suit}" transform="translate({x - size / 2} {y - size / 2})scale({size / 10})"/>'


def board(below: int) -> str:
    """The board, with the place of its pegs; ``below`` is the seat whose lane is the lower one."""
    (left, right), (x, y, width, height) = ENDS_OF_ROWS, BOARD
    height += 5  # for what stands below the last row
    lanes, places = "", [hole_at(hole, is_below) for is_below in (False, True) for hole in range(-1, WIN + 1)]
    for is_below in (False, True):
        first, second, third = (hole_at(hole, is_below)[1] for hole in (1, 41, 81))
        turns = f"A{(second - first) / 2} {(second - first) / 2} 0 0 1 {right} {second}H{left}"
        turns += f"A{(third - second) / 2} {(third - second) / 2} 0 0 0 {left} {third}H{right}"
        colour = f"var(--lane-{below if is_below else 1 - below})"
        lanes += _line(f"M{START[1]} {first}H{right}{turns}", 17, colour)
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
