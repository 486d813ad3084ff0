"""``render()`` of the environments, in every mode."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crib_env.options import RENDER_MODES
from crib_env.picture.drawing import Drawing
from crib_env.picture.pixels import to_pixels
from crib_env.picture.window import Window

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
