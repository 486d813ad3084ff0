"""What discards are worth in whole deals against a solution of them: the crib and the play after each choice.

``crib-env solve deal`` writes this table. The player that is valued best responds in the play, and remembers its own
discards; the opponent discards and plays as the solution does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crib_env.engine import ROLES
from crib_env.files.checked_file import Column, SavedArrays
from crib_env.solver.deal.best_response import DealResponses
from crib_env.solver.deal.shows import Choices, discard_totals
from crib_env.solver.deal.sixes import N_CHOICES

VERSION = 1
_KIND = "table of whole deals"
_COLUMNS = {
    "cribs": Column("f", (len(ROLES), N_CHOICES)),
    "play": Column("f", (len(ROLES), N_CHOICES)),
    "responses": Column("f", (len(ROLES),)),
}


@dataclass(frozen=True)
class DealValues(SavedArrays, kind=_KIND, version=VERSION, columns=_COLUMNS):
    """By role and choice (:class:`crib_env.solver.deal.sixes.Sixes`)."""

    cribs: np.ndarray
    """(2, C) mean points of the crib, without what the suits of the player's own discards add."""
    play: np.ndarray
    """(2, C) net points of the play."""
    responses: np.ndarray
    """(2,) what a best response in each role earns, net points a deal: the sum is the solution's NashConv."""

    @classmethod
    def of(cls, found: DealResponses) -> DealValues:
        """What best responses to a solution have found; rounded to a thousandth of a point, which keeps it small."""
        cribs, play = [response.cribs for response in found], [response.play for response in found]
        values = np.array([response.value for response in found])
        return cls(np.round(cribs, 3).astype(np.float32), np.round(play, 3).astype(np.float32), values)

    def totals(self, role: int, deals: Choices) -> np.ndarray:
        """(N, 15) float32, what each discard of N deals of six cards is worth to a role: hand, crib and play."""
        return discard_totals(role, self.cribs[role], self.play[role], deals)
