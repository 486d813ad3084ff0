"""``render()`` of the environments in every mode: as text, in pixels and in a window.

Pixels and the window need the packages of the extra ``render``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

from crib_env.distribution import missing
from crib_env.options import RENDER_MODES
from crib_env.picture.drawing import Sheet

FPS = 2  # decisions a second that a person can follow


class Renderer:
    """Renders an environment in its ``render_mode``: one of ``RENDER_MODES`` or None."""

    def __init__(self, mode: str | None) -> None:
        self._mode = mode
        self._window = Window(FPS)

    def render(self, text: Callable[[], str], drawing: Callable[[], Sheet]) -> str | np.ndarray | None:
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
        pixels = drawing().pixels()
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
