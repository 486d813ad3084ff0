"""What both players hold when the play of a real deal begins: four cards of six, the others discarded.

Each of the 20,358,520 sets of six cards keeps the four with the best expectation in points: hand, crib and play, as in
:func:`crib_env.analyse_discard`. At 0–0, where a point is worth about the same everywhere, ``expert`` keeps the same
ranks in more than nineteen of twenty hands.

How often each role keeps each hand of four ranks beside each starter is exact. How often two hands meet accounts for
the cards that they and the starter share, but not for how the discards of one player change what the other was dealt.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from crib_env.engine import DEALER, PONE, ROLES
from crib_env.exact.deal_classes import N_CLASSES, cards_of, class_sizes
from crib_env.hands import N_FOURS, N_RANKS, ORDERINGS
from crib_env.solver.deal.kinds import N_CHOICES, choices, sixes
from crib_env.solver.pairs import fitted_weights, pairs_dealt
from crib_env.solver.public_state import start_of_play
from crib_env.tables.outlook import discard_points

UNUSUAL = 0.03
"""How often a player is assumed to keep four random cards, so that even unlikely hands get a policy."""


@cache
def kept_hands() -> np.ndarray:
    """(13, 2, 1820) how often each role keeps each hand of four ranks (:data:`crib_env.hands.HANDS`) when a
    starter of each rank is cut; each row adds up to 1. Takes half a minute."""
    kinds, classes = sixes(), np.arange(N_CLASSES)
    kept = np.zeros((N_RANKS, len(ROLES), N_FOURS))
    for role in range(len(ROLES)):
        best = discard_points(cards_of(classes), np.full(N_CLASSES, role == DEALER)).argmax(axis=1)
        deals = np.bincount(choices().choice[classes, best], class_sizes(), N_CHOICES)
        for starter in range(N_RANKS):
            left = 4 - kinds.counts[kinds.six, starter]
            kept[starter, role] = np.bincount(kinds.kept, deals * left, N_FOURS)
    return kept / kept.sum(axis=2, keepdims=True)


def prior_of_discards(starter: int, kept: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The weights of pone's and of the dealer's hands beside a starter, (1820,) each, for
    :class:`crib_env.solver.play_game.PlayGame`.

    With these weights each role holds each hand as often as ``kept`` says, and ``UNUSUAL`` of the time any four cards.

    Args:
        starter: its rank.
        kept: shares as from :func:`kept_hands`, the default.
    """
    ways = pairs_dealt(start_of_play(starter=starter))
    dealt = ORDERINGS[4][:, None] * ways * ORDERINGS[4]
    shares = (kept_hands() if kept is None else kept)[starter]
    anything = np.stack([dealt.sum(axis=1), dealt.sum(axis=0)]) / dealt.sum()
    shares = (1 - UNUSUAL) * shares + UNUSUAL * anything
    return fitted_weights((shares[PONE], shares[DEALER]), ways)
