"""Groups of discards: what a player with too little memory best keeps of its own discards.

The two cards that a player has discarded are two that its opponent does not hold, so they change a little what its
cards are worth in the play. Of each hand that it may keep, the discards are put in two groups: those are together after
which each of its first cards is worth about as much, to one who remembers them.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine import ROLES
from crib_env.hands import N_RANKS
from crib_env.solver.deal.sixes import N_CHOICES, sixes

N_GROUPS = 2
_ROUNDS = 20  # of two means; few hands need more than five


def two_groups(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(N,) int8 in which group each of N vectors (N, F) is: two means (Lloyd 1982, "Least squares quantization in
    PCM"), beginning with the vectors that lie farthest from the mean and from each other.

    Args:
        weights: (N,) of the vectors, some above 0.
    """

    def distances(point: np.ndarray) -> np.ndarray:
        found: np.ndarray = ((values - point) ** 2).sum(axis=1)
        return found

    first = values[(weights * distances(weights @ values / weights.sum())).argmax()]
    means = [first, values[(weights * distances(first)).argmax()]]
    groups = np.zeros(len(values), np.int8)
    for _ in range(_ROUNDS):
        before = groups
        groups = (distances(means[1]) < distances(means[0])).astype(np.int8)
        if (groups == before).all():
            break
        for group in range(N_GROUPS):
            own = weights * (groups == group)
            if own.any():
                means[group] = own @ values / own.sum()
    return groups


class FirstCards:
    """Collects what first cards are worth to best responders, and groups discards by it.

    Args:
        chances: (C,) by role, how often each choice is made (:func:`crib_env.solver.deal.holdings.by_choice`).

    Attributes:
        groups: (2, 13, C) int8 by role and starter.
    """

    def __init__(self, chances: tuple[np.ndarray, np.ndarray]) -> None:
        self._chances = chances
        self.groups = np.zeros((len(ROLES), N_RANKS, N_CHOICES), np.int8)

    def note(self, role: int, starter: int, hand: int, first: np.ndarray) -> None:
        """Groups the discards of a hand.

        Args:
            first: (13, 13, 91) what each rank earns that is laid first, by the rank led before and by the discards.
        """
        kinds = sixes()
        here = ((kinds.choice[hand] >= 0) & (first != 0).any(axis=(0, 1))).nonzero()[0]
        if not len(here):
            return
        choice = kinds.choice[hand, here]
        weights = self._chances[role][choice] * kinds.ways()[kinds.six[choice]]
        if not weights.any():
            weights = kinds.ways()[kinds.six[choice]]
        values = first[..., here].reshape(-1, N_RANKS, len(here))
        held = (values != 0).any(axis=(0, 2))
        values = values[:, held] - values[:, held].mean(axis=1, keepdims=True)
        self.groups[role, starter, choice] = two_groups(values.reshape(-1, len(here)).T, weights)
