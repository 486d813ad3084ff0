"""Halscrib's record of its opponent in each game: how it leads, and how it answers leads."""

from __future__ import annotations

from math import comb

import numpy as np

from crib_env import PlayerViews
from crib_env.kernels import kernel

ANSWERS, LEADS = range(2)  # by the opponent: its answers matter when we lead, its leads when we answer
# Cards unseen by a pone who is to lead, of which six and the starter are known, or four in the pegging episode; and
# cards that the dealer then holds.
_UNSEEN, _HELD = (45, 48), 4
# The probability that the dealer holds a rank, by either, and by how many of its cards are unseen.
_HOLDS = np.array([[1 - comb(n - left, _HELD) / comb(n, _HELD) for left in range(5)] for n in _UNSEEN])

_RECORD = np.dtype(
    [
        ("last_decision", "i8"),
        # Pairs and occasions, by ANSWERS and LEADS: in earlier deals of the game, and in the current one.
        ("earlier", "f8", (2, 2)),
        ("present", "f8", (2, 2)),
    ]
)


@kernel
def _observe(records, rows, discarding, views, seen):
    for b in range(len(rows)):
        record = records[rows[b]]
        earlier, present = record["earlier"], record["present"]
        another_game = views.decisions[b] < record["last_decision"]  # with the same id
        record["last_decision"] = views.decisions[b]
        for what in range(2):
            for k in range(2):
                if another_game:
                    earlier[what, k] = present[what, k] = 0.0
                if discarding[b]:  # the last deal is complete
                    earlier[what, k] += present[what, k]
                    present[what, k] = 0.0
        if not discarding[b]:
            hand, discards, starter = views.hand[b], views.discards[b], views.starter[b]
            _observe_play(hand, discards, starter, views.laid[b], views.laid_by[b], present)
        for what in range(2):
            for k in range(2):
                seen[b, what, k] = earlier[what, k] + present[what, k]


@kernel
def _observe_play(hand, discards, starter, laid, laid_by, present):
    """Writes what this deal has shown so far. It starts from zero each time, so nothing is counted twice."""
    if laid[0] < 0:
        return
    led = laid[0] % 13
    if laid_by[0] == 0:
        if laid[1] >= 0:
            left = 4 - (starter >= 0 and starter % 13 == led)
            for card in hand:
                left -= card >= 0 and card % 13 == led
            for card in discards:
                left -= card >= 0 and card % 13 == led
            for k in range(8):
                left -= laid[k] >= 0 and laid_by[k] == 0 and laid[k] % 13 == led
            present[ANSWERS, 0] = laid[1] % 13 == led
            present[ANSWERS, 1] = _HOLDS[1 if starter < 0 else 0, left]
    else:
        again, others = 0, 0
        for k in range(1, 8):
            if laid[k] >= 0 and laid_by[k] == 1:
                others += 1
                again += laid[k] % 13 == led
        present[LEADS, 0] = min(again, 1)
        present[LEADS, 1] = others / 3  # the part of the other three cards that has been seen


class Memory:
    """How often the opponent of each game has paired, and how often it could have.

    An answered lead counts as an occasion with the probability that the opponent held its rank. A lead of the
    opponent counts as an occasion by the share of its other three cards that has been laid. If a game's id returns
    with an earlier decision, it is a new game, and the record starts again.
    """

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}
        self._records = np.zeros(0, _RECORD)

    def observe(self, views: PlayerViews) -> np.ndarray:
        """Updates the record with the views.

        Returns:
            (B, 2, 2) float64: by ``ANSWERS`` (how leads were answered) and ``LEADS`` (how the opponent led), pairs and
            occasions.
        """
        rows = np.array([self._rows.setdefault(game, len(self._rows)) for game in views.game_ids.tolist()], np.int64)
        if len(self._rows) > len(self._records):
            more = np.zeros(max(len(self._rows), 2 * len(self._records)), _RECORD)
            more[: len(self._records)] = self._records
            self._records = more
        seen = np.empty((len(views), 2, 2))
        _observe(self._records, rows, views.is_discard, views.arrays, seen)
        return seen
