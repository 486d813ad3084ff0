"""A recorded game as one HTML page to step through, which loads nothing from elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from crib_env.picture.cards import card_faces
from crib_env.picture.colours import DARK, LIGHT, STYLED, four_colours, style_variables
from crib_env.picture.table import cards_on, draw_parts, svg_start
from evaluate.replays.frames import Frame, milliseconds

_TEMPLATE = Path(__file__).with_name("page.html")
_PLACES = re.compile(r"\b(TITLE|LIGHT|DARK|FOUR_COLOURS|SVG|JSON_DATA)\b")


def replay_page(title: str, frames: Sequence[Frame]) -> str:
    """The page. It follows the reader's choice of light or dark, and offers four colours for the suits."""
    parts: dict[str, int] = {}  # the number of each drawing; most parts of a picture are the same in the next one
    pictures = [
        {
            "deal": frame.deal,
            "says": frame.table.caption,
            "milliseconds": milliseconds(frame.table),
            "parts": [parts.setdefault(part, len(parts)) for part in draw_parts(frame.table, STYLED)],
        }
        for frame in frames
    ]
    faces = card_faces({card for frame in frames for card in cards_on(frame.table)}, STYLED, "")
    suits = zip(LIGHT._fields, LIGHT, four_colours(LIGHT))
    filled = {
        "TITLE": escape(title),
        "LIGHT": style_variables(LIGHT),
        "DARK": style_variables(DARK),
        "FOUR_COLOURS": "".join(f"--{name}:{colour};" for name, two, colour in suits if colour != two),
        "SVG": f'{svg_start(title)}<defs>{faces}</defs><g id="drawing"></g></svg>',
        # In a script "<" could end it.
        "JSON_DATA": json.dumps({"parts": list(parts), "frames": pictures}).replace("<", "\\u003c"),
    }
    return _PLACES.sub(lambda place: filled[place[1]], _TEMPLATE.read_text(encoding="utf-8"))
