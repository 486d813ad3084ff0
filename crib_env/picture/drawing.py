"""A drawing as SVG: a background, and parts that lie on it, each in a box of its own.

Everything, including letters, is drawn with paths, so it looks the same everywhere and needs no font.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from crib_env.picture.colours import Palette
from crib_env.picture.letters import fitted, short, strokes, width_of


class Part(NamedTuple):
    """A part of a drawing. As text, it is an SVG group at its place."""

    svg: str  # what it draws, within its box, whose upper left corner is (0, 0)
    x: float
    y: float
    width: float
    height: float
    opacity: float = 1
    uses: str = ""  # a definition that ``svg`` refers to

    def __str__(self) -> str:
        pale = "" if self.opacity == 1 else f' opacity="{self.opacity}"'
        return f'<g transform="translate({short(self.x)} {short(self.y)})"{pale}>{self.svg}</g>'


class Drawing(NamedTuple):
    """A picture from back to front. As text, it is a whole SVG file."""

    title: str  # for screen readers
    width: int
    height: int
    background: str  # SVG that fills the picture; pictures of the same kind share it
    parts: tuple[Part, ...]

    def __str__(self) -> str:
        uses = dict.fromkeys(part.uses for part in self.parts)
        drawn = "".join(map(str, self.parts))
        return (
            f"{svg_start(self.width, self.height)}<title>{escape(self.title)}</title><defs>{''.join(uses)}</defs>"
            f"{self.background}{drawn}</svg>"
        )


def svg_start(width: int, height: int) -> str:
    """The opening tag of a picture of this size."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'stroke-linecap="round" stroke-linejoin="round">'
    )


def draw_felt(width: int, height: int, palette: Palette) -> str:
    """The cloth under everything."""
    return f'<rect class="felt" width="{width}" height="{height}" fill="{palette.felt}"/>'


def draw_box(
    x: float, y: float, width: float, height: float, radius: float, fill: str, edge: str = "", thick: float = 0
) -> Part:
    """A rectangle with round corners; its edge, if it has one, is half outside."""
    line = f' stroke="{edge}" stroke-width="{thick}"' if edge else ""
    svg = (
        f'<rect x="{thick / 2:g}" y="{thick / 2:g}" width="{short(width)}" height="{short(height)}" rx="{radius}" '
        f'fill="{fill}"{line}/>'
    )
    return Part(svg, x - thick / 2, y - thick / 2, width + thick, height + thick)


def draw_text(
    text: str, x: float, y: float, height: float, colour: str, anchor: str, width: float, weight: float = 0.13
) -> Part:
    """A text whose top is at y, scaled to fit into a width; ``weight`` is that of strokes for a height of 1."""
    text, smaller = fitted(text, height, width)
    y, height = y + (height - smaller) / 2, smaller
    wide = width_of(text, height)
    x -= {"start": 0, "middle": 0.5, "end": 1}[anchor] * wide
    margin = height / 4  # for the strokes' round ends, and for letters that reach below the line
    path = strokes(text, margin, margin, height)
    svg = f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{short(height * weight)}"/>'
    return Part(svg, x - margin, y - margin, wide + 2 * margin, height + 2 * margin)


def draw_pill(text: str, x: float, y: float, palette: Palette, fill: str | None = None) -> list[Part]:
    """A label, centred at (x, y)."""
    width = width_of(text, 13) + 20
    ink = palette.ink if fill is None else "#1f2a26"
    return [
        draw_box(x - width / 2, y - 12, width, 24, 12, fill or palette.plate, palette.faint, 1.5),
        draw_text(text, x, y - 6.5, 13, ink, "middle", width, weight=0.16),
    ]
