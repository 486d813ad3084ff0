"""A recorded game as an animated GIF, with the extra ``render``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crib_env.evaluate.play.replays.frames import milliseconds
from crib_env.evaluate.progress import progress_bar
from crib_env.files.whole_file import whole_file
from crib_env.picture.colours import LIGHT
from crib_env.picture.rendering import to_pixels
from crib_env.picture.seen import Table
from crib_env.picture.table import draw_table

_COLOURS = 64  # the drawing has about thirty; the others smooth its edges
_LAST = 4_000  # milliseconds that the last picture stays


def write_gif(path: Path, tables: Sequence[Table], width: int = 640) -> None:
    """Writes a moving picture of these tables that repeats.

    Raises:
        DependencyNotInstalled: the extra ``render`` is not installed.
        ValueError, OSError: the file cannot be written, see :func:`crib_env.files.whole_file.check_output`.
    """
    with progress_bar() as progress:
        task = progress.add_task("drawing", total=len(tables))
        pixels = []
        for table in tables:
            pixels.append(to_pixels(draw_table(table, LIGHT), width))
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
