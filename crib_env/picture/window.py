"""A window that shows pictures, with the extra ``render``: pygame."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

from crib_env.picture.pixels import NEEDS_EXTRA


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
        except ImportError:
            raise DependencyNotInstalled(f"render_mode='human' {NEEDS_EXTRA}") from None
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
