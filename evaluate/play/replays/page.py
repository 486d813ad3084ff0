"""A recorded game as one HTML page to step through, which loads nothing from elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from crib_env.evaluate.play.replays.frames import Frame, milliseconds
from crib_env.picture.colours import DARK, LIGHT, STYLED, four_colours, style_variables
from crib_env.picture.drawing import svg_start
from crib_env.picture.table import HEIGHT, WIDTH, draw_table

_TEMPLATE = Path(__file__).with_name("page.html")
_PLACES = re.compile(r"\b(TITLE|LIGHT|DARK|FOUR_COLOURS|SVG|JSON_DATA)\b")


def replay_page(title: str, frames: Sequence[Frame]) -> str:
    """The page. It follows the reader's choice of light or dark, and offers four colours for the suits."""
    numbers: dict[str, int] = {}  # of each group of a drawing; most groups of a picture are the same in the next one
    uses: dict[str, None] = {}
    pictures = []
    for frame in frames:
        drawing = draw_table(frame.table, STYLED)
        uses |= dict.fromkeys(part.uses for part in drawing.parts)
        groups = [drawing.background, *map(str, drawing.parts)]
        pictures.append(
            {
                "deal": frame.deal,
                "says": frame.table.caption,
                "milliseconds": milliseconds(frame.table),
                "parts": [numbers.setdefault(group, len(numbers)) for group in groups],
            }
        )
    suits = zip(LIGHT._fields, LIGHT, four_colours(LIGHT))
    filled = {
        "TITLE": escape(title),
        "LIGHT": style_variables(LIGHT),
        "DARK": style_variables(DARK),
        "FOUR_COLOURS": "".join(f"--{name}:{colour};" for name, two, colour in suits if colour != two),
        "SVG": (
            f"{svg_start(WIDTH, HEIGHT)}<title>{escape(title)}</title><defs>{''.join(uses)}</defs>"
            '<g id="drawing"></g></svg>'
        ),
        # In a script "<" could end it.
        "JSON_DATA": json.dumps({"parts": list(numbers), "frames": pictures}).replace("<", "\\u003c"),
    }
    return _PLACES.sub(lambda place: filled[place[1]], _TEMPLATE.read_text(encoding="utf-8"))
