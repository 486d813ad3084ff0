"""The cribbage board: a track of 120 holes and two pegs for each player, and a last hole that both share."""

from __future__ import annotations

from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.picture.colours import Palette
from crib_env.picture.drawing import Part
from crib_env.picture.letters import short, strokes, width_of
from crib_env.picture.seen import Side

LEFT, TOP, WIDTH, HEIGHT = 20, 16, 920, 162

# The track runs to the right, back and to the right again: three rows of forty holes.
_ROWS = (TOP + 31, TOP + 81, TOP + 131)
_FIRST, _LAST = 96, 864  # holes at the ends of a row
_STEP, _GROUP_GAP = 17.5, 12.2
_LANE = 10  # distance from the middle of a row to a lane
_TURNS = (76, 884)  # where the track turns, left and right
_START = (62, 42)  # the two starting holes
_FINISH = (908, _ROWS[2])


def hole_at(hole: int, is_below: bool) -> tuple[float, float]:
    """The position (x, y) of a hole: 1 to 120, 121 the last, 0 and -1 the two starting holes."""
    if hole >= WIN:
        return _FINISH
    if hole <= 0:
        return _START[-hole], _ROWS[0] + (_LANE if is_below else -_LANE)
    row, k = divmod(hole - 1, 40)
    along = k * _STEP + k // 5 * _GROUP_GAP
    # The outer lane stays outside in each turn, so the lanes change sides.
    is_lower = is_below == (row != 1)
    return (_LAST - along if row == 1 else _FIRST + along), _ROWS[row] + (_LANE if is_lower else -_LANE)


def draw_board(below: int, palette: Palette) -> str:
    """The board without pegs."""
    above = 1 - below
    return (
        f'<g class="board"><rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" rx="20" fill="{palette.wood}"/>'
        + _lane(False, palette.lanes[above])
        + _lane(True, palette.lanes[below])
        + _marks(palette)
        + _holes(palette)
        + "</g>"
    )


def draw_pegs(side: Side, is_below: bool, colour: str, palette: Palette) -> list[Part]:
    """The two pegs of a side."""
    pegs = []
    for hole, radius in ((side.rear_peg if side.score else -1, 7.5), (side.score, 9)):
        x, y = hole_at(hole, is_below)
        r = radius + 1  # with the edge
        svg = (
            f'<circle cx="{r}" cy="{r}" r="{radius}" fill="{colour}" stroke="{palette.peg_edge}" stroke-width="2">'
            f"<title>{side.score} points</title></circle>"
        )
        pegs.append(Part(svg, x - r, y - r, 2 * r, 2 * r))
    return pegs


def _lane(is_below: bool, colour: str) -> str:
    first, second, third = (hole_at(hole, is_below)[1] for hole in (1, 41, 81))
    left, right = _TURNS
    path = (
        f"M{_START[1]} {first}H{right}A{(second - first) / 2:g} {(second - first) / 2:g} 0 0 1 {right} {second}"
        f"H{left}A{(third - second) / 2:g} {(third - second) / 2:g} 0 0 0 {left} {third}H{right}"
    )
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="17"/>'


def _holes(palette: Palette) -> str:
    places = [hole_at(hole, is_below) for is_below in (False, True) for hole in range(-1, WIN)]
    dots = "".join(f"M{short(x)} {short(y)}h0" for x, y in places)
    x, y = _FINISH
    return (
        f'<path d="{dots}" fill="none" stroke="{palette.hole}" stroke-width="6.4"/>'
        f'<circle cx="{x}" cy="{y}" r="13" fill="{palette.lit}"/>'
        f'<circle cx="{x}" cy="{y}" r="5" fill="{palette.hole}"/>'
    )


def _marks(palette: Palette) -> str:
    """Marks at every ten holes, and the skunk lines."""
    tens = []
    for hole in range(10, WIN, 10):
        x, y = hole_at(hole, True)
        text = str(hole)
        tens.append(strokes(text, x - width_of(text, 8) / 2, _ROWS[(hole - 1) // 40] + 21, 8))
    lines = []
    for score in (DOUBLE_SKUNK, SKUNK):
        x = (hole_at(score, True)[0] + hole_at(score + 1, True)[0]) / 2
        y = _ROWS[score // 40]
        lines.append(f"M{short(x)} {y - 18}V{y + 18}")
    return (
        f'<path d="{"".join(tens)}" fill="none" stroke="{palette.hole}" stroke-width="1.4"/>'
        f'<path d="{"".join(lines)}" fill="none" stroke="{palette.hole}" stroke-width="3"/>'
    )
