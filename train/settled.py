"""Rewards without the luck that no decision controls: what the cards of a player are worth in the show."""

from __future__ import annotations

import numpy as np

from crib_env.batch import SOURCES, GameBatch
from crib_env.engine import PEGGING_EPISODE
from crib_env.exact.discard_means import COMPLETIONS, best_discard_and_total
from crib_env.kernels import kernel


@kernel
def _discards_worth(games, rows, seats, out):
    for b in range(len(rows)):
        g, seat = games[rows[b]], seats[b]
        if g["episode"] == PEGGING_EPISODE:
            out[b] = 0.0
            continue
        kept = g["kept"][seat] if g["kept"][seat] else g["hand"][seat]
        discarded = g["discards"][seat]
        crib_sign = 1 if seat == g["dealer"] else -1
        out[b] = best_discard_and_total(kept | discarded, discarded, crib_sign)[1] / COMPLETIONS


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
    made = (batch.games["scores"][rows] - batch.games["start_scores"][rows]).astype(np.float64)
    pegged = batch.tally[rows, :, :, SOURCES.index("play")].sum(axis=2)
    each = np.arange(len(rows))
    pegging = pegged[each, seats] - pegged[each, 1 - seats]
    return made[each, seats] - made[each, 1 - seats], pegging + discards_worth(batch.games, rows, seats)
