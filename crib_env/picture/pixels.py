"""SVG to pixels, with the extra ``render``: resvg draws, Pillow reads its PNG."""

from __future__ import annotations

import io

import numpy as np
from gymnasium.error import DependencyNotInstalled

NEEDS_EXTRA = 'needs the packages of an extra: install crib_env with its extra "render"'


def to_png(svg: str, width: int | None = None) -> bytes:
    """A picture as a PNG file, in its own size or with this width in pixels.

    Raises:
        DependencyNotInstalled: resvg-py is not installed.
    """
    try:
        import resvg_py
    except ImportError:
        raise DependencyNotInstalled(f"a picture in pixels {NEEDS_EXTRA}") from None
    # Our pictures contain no text elements, and looking for system fonts takes longer than drawing.
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True))


def to_pixels(svg: str, width: int | None = None) -> np.ndarray:
    """A picture as (height, width, 3) uint8: red, green, blue.

    Raises:
        DependencyNotInstalled: resvg-py or Pillow is not installed.
    """
    png = to_png(svg, width)
    try:
        from PIL import Image
    except ImportError:
        raise DependencyNotInstalled(f"a picture in pixels {NEEDS_EXTRA}") from None
    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))
