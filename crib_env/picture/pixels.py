"""Drawings in pixels, with the extra ``render``: resvg draws each part once, and frames are composed of such parts."""

from __future__ import annotations

import io
from functools import lru_cache
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from gymnasium.error import DependencyNotInstalled

from crib_env.picture.drawing import Drawing, svg_start

NEEDS_EXTRA = 'needs the packages of an extra: install crib_env with its extra "render"'


def to_pixels(drawing: Drawing, width: int | None = None) -> np.ndarray:
    """A drawing as (height, width, 3) uint8: red, green, blue; in its own size or with this width.

    Raises:
        DependencyNotInstalled: resvg-py or Pillow is not installed.
    """
    canvas = _background(str(drawing._replace(title="", parts=())), width).copy()
    down, across = canvas.shape[0] / drawing.height, canvas.shape[1] / drawing.width  # pixels a unit
    for part in drawing.parts:
        top, left = floor(part.y * down), floor(part.x * across)
        tall, wide = ceil((part.y + part.height) * down) - top, ceil((part.x + part.width) * across) - left
        shifted = part._replace(x=part.x - left / across, y=part.y - top / down)
        scaled = f'<g transform="scale({across} {down})">{shifted}</g>'
        layer = _layer(f"{svg_start(wide, tall)}<defs>{part.uses}</defs>{scaled}</svg>")
        box = canvas[top : top + tall, left : left + wide]
        tall, wide, _ = box.shape  # less where the part reaches beyond the picture
        box[:] = (box * layer.transparency[:tall, :wide] + layer.colour[:tall, :wide]) // 255
    return canvas


class _Layer(NamedTuple):
    """A part in pixels, to be laid over others: ``(below * transparency + colour) // 255``, rounded."""

    colour: np.ndarray
    """(height, width, 3) uint16, times opacity (0 … 255), and a half to round."""
    transparency: np.ndarray
    """(height, width, 1) uint16: 255 where nothing is drawn."""


@lru_cache(maxsize=512)
def _layer(svg: str) -> _Layer:
    pixels = _drawn(svg).astype(np.uint16)
    opacity = pixels[..., 3:]
    return _Layer(pixels[..., :3] * opacity + 127, 255 - opacity)


@lru_cache(maxsize=8)
def _background(svg: str, width: int | None) -> np.ndarray:
    return np.ascontiguousarray(_drawn(svg, width)[..., :3])


def _drawn(svg: str, width: int | None = None) -> np.ndarray:
    """(height, width, 4) uint8: red, green, blue, opacity."""
    try:
        import resvg_py
        from PIL import Image
    except ImportError:
        raise DependencyNotInstalled(f"a picture in pixels {NEEDS_EXTRA}") from None
    # Our pictures contain no text elements, and looking for system fonts takes longer than drawing.
    png = resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True)
    return np.asarray(Image.open(io.BytesIO(bytes(png))).convert("RGBA"))
