"""Players of a fixed policy, one of whom the opponent may be."""

from __future__ import annotations

import numpy as np

from crib_env.solver.blend import Blend
from crib_env.solver.play_game import PlayGame

_NOTHING = np.zeros(0, np.float32)


class Population:
    """All opponents: a share of them plays a fixed policy, the others play the game that is solved.

    Args:
        game: the play.
        policy: (S,) float32, the fixed one, as :meth:`crib_env.solver.play_game.PlayGame.expected` takes it.
        share: of those who play it, above 0 and below 1.

    Raises:
        ValueError: the share is not between 0 and 1.
    """

    def __init__(self, game: PlayGame, policy: np.ndarray, share: float) -> None:
        if not 0 < share < 1:
            raise ValueError(f"a share of {share} is not allowed: give a number above 0 and below 1")
        self._game, self._policy, self._share = game, policy, np.float32(share)
        self._met = np.zeros(game.extent.slots, np.float32)

    def met(self, policy: np.ndarray, role: int, average: np.ndarray = _NOTHING, weight: float = 0.0) -> np.ndarray:
        """The policy of a role when nobody knows which player it is; the array is valid until the next call.

        Args:
            policy: (S,) float32, of the others.
            role: ``PONE`` or ``DEALER``.
            average: (S,) float32, to which the others' policy is added, times the reach of their hands.
            weight: of this in the average; at 0 nothing is added.
        """
        self._game.blend(Blend(self._policy, self._share, policy), role, self._met, average, weight)
        return self._met
