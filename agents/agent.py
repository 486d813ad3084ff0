"""What an agent is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from crib_env import PlayerViews


@runtime_checkable
class Agent(Protocol):
    """A player, for a batch of decisions at a time.

    An agent sees only what its player may know. What it remembers of a game, and what it draws at random, it keys by
    ``views.game_ids``, so that a game is the same whatever batch it is played in.
    """

    name: str

    def act(self, views: PlayerViews) -> np.ndarray:
        """One legal card for each of B decisions: (B,) integer card ids."""
        ...
