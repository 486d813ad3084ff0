"""Recorded games as pictures: the moments that a spectator sees, a page to step through, an animated GIF."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env import parse_cards
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.matches.muggins import write_missed
from crib_env.evaluate.progress import progress_bar
from crib_env.files.whole_file import whole_file
from crib_env.picture.colours import DARK, LIGHT, STYLED, four_colours, style_variables
from crib_env.picture.drawing import svg_start
from crib_env.picture.rendering import to_pixels
from crib_env.picture.seen import Table, see, stages
from crib_env.picture.table import HEIGHT, WIDTH, draw_table

_MILLISECONDS = {"discard": 900, "play": 1_100, "show": 2_600}
_WIDTH = 640  # pixels
_COLOURS = 64  # the drawing has about thirty; the others smooth its edges
_LAST = 4_000  # milliseconds that the last picture stays
_TEMPLATE = Path(__file__).with_name("replay.html")
_PLACES = re.compile(r"\b(TITLE|LIGHT|DARK|FOUR_COLOURS|SVG|JSON_DATA)\b")


class Frame(NamedTuple):
    """A moment of a game."""

    deal: int
    """From 1."""
    table: Table


def frames(record: GameRecord, deal: int | None = None) -> Iterator[Frame]:
    """A game from the first cards to the last count, both hands and the crib face up.

    Args:
        record: the game.
        deal: this deal only, counted from 1.

    Raises:
        ValueError: the game cannot be replayed.
    """
    env = record.begin()
    for number, cards in enumerate(record.cards, start=1):
        write_missed(env.games, record.missed)
        dealt = env.games.copy()
        dealt["n_events"] = 0  # these are the events of the deal before
        if deal in (None, number):
            yield Frame(number, see(dealt, None, names=record.names))
        for card in parse_cards(cards):
            if deal in (None, number):
                for games in stages(env.games, card):
                    yield Frame(number, see(games, None, names=record.names))
            env.step(card)


def milliseconds(table: Table) -> int:
    """How long to show a table."""
    return _MILLISECONDS["discard" if table.count is None else "show" if table.counted else "play"]


def replay_page(title: str, moments: Sequence[Frame]) -> str:
    """The page. It follows the reader's choice of light or dark, and offers four colours for the suits."""
    numbers: dict[str, int] = {}  # of each group of a drawing; most groups of a picture are the same in the next one
    uses: dict[str, None] = {}
    pictures = []
    for frame in moments:
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


def write_gif(path: Path, tables: Sequence[Table]) -> None:
    """Writes a moving picture of these tables that repeats.

    Raises:
        DependencyNotInstalled: the extra ``render`` is not installed.
        ValueError, OSError: the file cannot be written, see :func:`crib_env.files.whole_file.check_output`.
    """
    with progress_bar() as progress:
        task = progress.add_task("drawing", total=len(tables))
        pixels = []
        for table in tables:
            pixels.append(to_pixels(draw_table(table, LIGHT), _WIDTH))
            progress.update(task, advance=1)
    from PIL import Image

    # One list of colours for all pictures, so that only the changes from one picture to the next are stored.
    sample = np.concatenate([pixels[k] for k in {0, len(pixels) // 2, len(pixels) - 1}])
    colours = Image.fromarray(sample).quantize(_COLOURS, dither=Image.Dither.NONE)
    images = [Image.fromarray(picture).quantize(palette=colours, dither=Image.Dither.NONE) for picture in pixels]
    with whole_file(path) as temporary:
        images[0].save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=images[1:],
            duration=[*map(milliseconds, tables[:-1]), _LAST],
            loop=0,
            optimize=True,
        )
