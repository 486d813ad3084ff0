"""Policies of the pegging game as tables by information states: what a player knows, as one line of text.

``p 45`` is pone's lead with a four and a five, ``d 7T p4`` the dealer's reply to a four with a seven and a ten. The
ranks dealt come first, in ascending order, then who laid which rank, oldest first. A state at which all legal cards are
of one rank needs no line. OpenSpiel's games of this project (:mod:`crib_env.open_spiel`) have the same states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from crib_env.cards import RANKS
from crib_env.engine import DEALER, PONE
from crib_env.hands import N_RANKS
from crib_env.players.agent import Powers
from crib_env.views import PlayerViews


def information_state(role: int, dealt: Sequence[int], laid: Sequence[tuple[int, int]]) -> str:
    """What a player knows: its role, the ranks dealt to it, and role and rank of each card laid, oldest first."""
    cards = " ".join(f"{'pd'[by]}{RANKS[rank]}" for by, rank in laid)
    return f"{'pd'[role]} {''.join(RANKS[rank] for rank in sorted(dealt))} {cards}".rstrip()


def state_of(views: PlayerViews, row: int) -> str:
    """The information state of a decision of views of the pegging game."""
    role = DEALER if views.is_dealer[row] else PONE
    hand, laid = views.hand[row], views.laid[row]
    n = int((laid >= 0).sum())
    is_own = views.laid_by[row][:n] == 0
    ranks = (laid[:n] % N_RANKS).tolist()
    dealt = (hand[hand >= 0] % N_RANKS).tolist() + [rank for rank, own in zip(ranks, is_own) if own]
    return information_state(role, dealt, [(role if own else 1 - role, rank) for own, rank in zip(is_own, ranks)])


class StatePolicy:
    """Lays each rank as often as a function of the information state says.

    Args:
        chances: gives 13 chances of ranks for an information state; those of ranks that cannot be laid do not count.
        seed: of the cards that it draws.
    """

    name = "tabular"
    powers = Powers(mixes="known", suits="unseen")

    def __init__(self, chances: Callable[[str], ArrayLike], seed: int = 0) -> None:
        self._chances, self._rng = chances, np.random.default_rng(seed)

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        if len(views) and (views.is_discard.any() or (views.starter >= 0).any()):
            raise ValueError(f"{self.name} plays the pegging game alone: it knows no discards and no starter")
        chances, legal = np.zeros((len(views), 4 * N_RANKS)), views.action_mask.reshape(-1, 4, N_RANKS)
        for row in range(len(views)):
            ranks = legal[row].any(axis=0).nonzero()[0]
            cards = N_RANKS * legal[row].argmax(axis=0)[ranks] + ranks
            chances[row, cards] = 1 if len(ranks) == 1 else np.asarray(self._chances(state_of(views, row)))[ranks]
            if not chances[row].any():
                raise ValueError(f"{self.name} has no card to lay at {state_of(views, row)!r}")
        return chances / chances.sum(axis=1, keepdims=True)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        chances = self.probabilities(views).cumsum(axis=1)
        return (chances > self._rng.random((len(views), 1))).argmax(axis=1)
