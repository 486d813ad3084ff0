"""``render()`` of the environments in every mode: as text, in pixels and in a window.

A picture in pixels is composed of parts, each of which resvg draws only once. Pixels and the window need the packages
of the extra ``render``.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import lru_cache
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from gymnasium.error import DependencyNotInstalled

from crib_env.distribution import missing
from crib_env.options import RENDER_MODES
from crib_env.picture.drawing import Drawing, svg_start


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

    colour: np.ndarray  # (height, width, 3) uint16, times opacity (0 … 255), and a half to round
    transparency: np.ndarray  # (height, width, 1) uint16: 255 where nothing is drawn


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
    except ImportError as error:
        raise DependencyNotInstalled(missing("a picture in pixels", error)) from None
    # Our pictures contain no text elements, and looking for system fonts takes longer than drawing.
    png = resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True)
    return np.asarray(Image.open(io.BytesIO(bytes(png))).convert("RGBA"))


FPS = 2  # decisions a second that a person can follow


class Renderer:
    """Renders an environment in its ``render_mode``: one of ``RENDER_MODES`` or None."""

    def __init__(self, mode: str | None) -> None:
        self._mode = mode
        self._window = Window(FPS)

    def render(self, text: Callable[[], str], drawing: Callable[[], Drawing]) -> str | np.ndarray | None:
        """``"ansi"``: the text. ``"rgb_array"``: (height, width, 3) uint8. ``"human"``: shows the picture in a window.

        Raises:
            ValueError: the mode is None.
            DependencyNotInstalled: a package of the extra ``render`` is not installed.
            RuntimeError: a window cannot be opened.
        """
        if self._mode is None:
            *modes, last = map(repr, RENDER_MODES)
            raise ValueError(
                f"render() needs a render_mode: make the environment with render_mode={', '.join(modes)} or {last}"
            )
        if self._mode == "ansi":
            return text()
        pixels = to_pixels(drawing())
        if self._mode == "rgb_array":
            return pixels
        self._window.show(pixels)
        return None

    def close(self) -> None:
        """Closes the window."""
        self._window.close()


class Window:
    """A window that opens with its first picture. Once the user closes it, it stays closed and shows no more pictures.

    Args:
        fps: the largest number of pictures per second.
    """

    def __init__(self, fps: float) -> None:
        self._fps = fps
        self._screen: Any = None
        self._was_closed = False

    def show(self, pixels: np.ndarray) -> None:
        """Shows (height, width, 3) uint8, and waits so that there are no more than ``fps`` pictures per second.

        Raises:
            DependencyNotInstalled: pygame is not installed.
            RuntimeError: there is no display.
        """
        if self._was_closed:
            return
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ImportError as error:
            raise DependencyNotInstalled(missing("render_mode='human'", error)) from None
        if self._screen is None:
            try:
                pygame.display.init()
                self._screen = pygame.display.set_mode(pixels.shape[1::-1])
            except pygame.error as error:
                raise RuntimeError(
                    f"render_mode='human' cannot open a window ({error}): use 'rgb_array' or 'ansi' without a display"
                ) from None
            pygame.display.set_caption("Cribbage")
            self._clock = pygame.time.Clock()
        self._screen.blit(pygame.surfarray.make_surface(pixels.swapaxes(0, 1)), (0, 0))
        pygame.display.flip()
        if pygame.event.get(pygame.QUIT):
            self.close()
            self._was_closed = True
            return
        pygame.event.pump()
        self._clock.tick(self._fps)

    def close(self) -> None:
        """Closes it, if it is open."""
        if self._screen is not None:
            import pygame

            pygame.display.quit()
            self._screen = None
