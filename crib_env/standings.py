"""How players stand in games under way, also without the luck that no decision controls.

The reward of a decision is the difference of a standing. Without luck the show counts as what the six cards of a player
are worth in it, so a reward does not depend on the cards that happen to fall.
"""

from __future__ import annotations

import numpy as np

from crib_env.batch import SOURCES, GameBatch
from crib_env.engine import PEGGING_EPISODE
from crib_env.exact.discard_means import COMPLETIONS, best_discard_and_total
from crib_env.kernels import kernel

_PLAY_SOURCE = SOURCES.index("play")


@kernel
def worth_in_the_show(g, seat):
    """Value of the six cards of a seat in the show: see :func:`discards_worth`."""
    if g["episode"] == PEGGING_EPISODE:
        return 0.0
    kept = g["kept"][seat] if g["kept"][seat] else g["hand"][seat]
    discarded = g["discards"][seat]
    crib_sign = 1 if seat == g["dealer"] else -1
    return best_discard_and_total(kept | discarded, discarded, crib_sign)[1] / COMPLETIONS


@kernel
def standing(games, i, tally, seat):
    """How a seat stands in game i, minus the other: in points, and without luck; see :func:`standings`."""
    g, points, pegged = games[i], 0.0, 0.0
    for side in range(2):
        sign = 1.0 if side == seat else -1.0
        points += sign * (np.float64(g["scores"][side]) - np.float64(g["start_scores"][side]))
        for role in range(2):
            pegged += sign * tally[i, side, role, _PLAY_SOURCE]
    return points, pegged + worth_in_the_show(g, seat)


@kernel
def _discards_worth(games, rows, seats, out):
    for b in range(len(rows)):
        out[b] = worth_in_the_show(games[rows[b]], seats[b])


@kernel
def _standings(games, rows, seats, tally, points, settled):
    for b in range(len(rows)):
        points[b], settled[b] = standing(games, rows[b], tally, seats[b])


def discards_worth(games: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Value of the six cards of ``seats`` in games ``rows`` in the show, (B,) float64.

    Exact means of the hand kept, plus the crib for the dealer and minus it for pone, after the best discard that
    includes the cards discarded so far; the opponent's discards are assumed random, as ``greedy`` does. It is 0 in the
    pegging episode, which has no show.
    """
    out = np.empty(len(rows))
    _discards_worth(games, rows, seats, out)
    return out


def standings(batch: GameBatch, rows: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How ``seats`` stand in games ``rows``, minus their opponents, each (B,) float64.

    First in points made since the start; then without luck: in points of the play, plus the value of the six cards in
    the show (:func:`discards_worth`).
    """
    points, settled = np.empty(len(rows)), np.empty(len(rows))
    _standings(batch.games, rows, np.asarray(seats, np.int64), batch.tally, points, settled)
    return points, settled
