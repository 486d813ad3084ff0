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
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES, TOTALS, fill_totals
from crib_env.hands import N_FOURS, N_RANKS, ORDERINGS, hand_of_mask
from crib_env.kernels import bit, kernel, mask_of
from crib_env.solver.pairs import fitted_weights, pairs_dealt
from crib_env.solver.public_state import start_of_play
from crib_env.tables.outlook import fill_discard_points, standard_values

UNUSUAL = 0.03
"""How often a player is assumed to keep four random cards, so that even unlikely hands get a policy."""
_CHUNK = 50_000


@kernel
def add_kept(cards, totals, sizes, values, kept):
    """Adds to ``kept`` (13, 2, 1820) the hands kept from some sets of six cards, by the starter's rank and role.

    Args:
        cards: (N, 6) int64, sorted ids.
        totals: (N, 15) of ``TOTALS``.
        sizes: (N,) how often each counts.
        values: :class:`crib_env.tables.outlook.DiscardValues`.
        kept: int64 counts; each starter that may be cut adds one.
    """
    points = np.empty(N_DISCARDS)
    for n in range(len(cards)):
        six = mask_of(cards[n])
        for role in range(2):
            fill_discard_points(cards[n], role, totals[n], values, points)
            places = PLACES[points.argmax()]
            number = hand_of_mask(six ^ bit(cards[n, places[0]]) ^ bit(cards[n, places[1]]))
            for rank in range(N_RANKS):
                kept[rank, role, number] += 4 * sizes[n]
            for k in range(6):
                kept[cards[n, k] % 13, role, number] -= sizes[n]


@cache
def kept_hands() -> np.ndarray:
    """(13, 2, 1820) how often each role keeps each hand of four ranks (:data:`crib_env.hands.HANDS`) when a
    starter of each rank is cut; each row adds up to 1. Takes ten seconds."""
    sizes, totals = class_sizes(), np.zeros((_CHUNK, N_DISCARDS), TOTALS)
    kept = np.zeros((N_RANKS, len(ROLES), N_FOURS), np.int64)
    for start in range(0, N_CLASSES, _CHUNK):
        rows = np.arange(start, min(start + _CHUNK, N_CLASSES))
        cards = cards_of(rows)
        fill_totals(cards, totals[: len(rows)])
        add_kept(cards, totals[: len(rows)], sizes[rows], standard_values(), kept)
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
