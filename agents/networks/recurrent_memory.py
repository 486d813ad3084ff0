"""The states of a recurrent network in the games it plays."""

from __future__ import annotations

import numpy as np

from crib_env import PlayerViews

_DECISIONS_OF_A_DEAL = 12  # four discards, eight cards laid
_KEPT = 1 << 14  # number of players of games: twice what a match plays at once


def players(views: PlayerViews) -> np.ndarray:
    """(B,) int64: a number for each player of each game; views say who deals, and that changes with every deal."""
    dealt_first = views.is_dealer ^ (views.decisions // _DECISIONS_OF_A_DEAL % 2 == 1)
    return 2 * views.game_ids + dealt_first


class RecurrentMemory:
    """The state of a network in each game, by :func:`players`, so that one object may play both seats.

    It starts at zero. If a game's id returns with an earlier decision, it is a new game. A repeated
    decision starts from the same state as the first time. Beyond ``_KEPT`` games (and those of the current batch) the
    games unused for longest are forgotten.

    Args:
        width: of the network's memory.
        lasts: ``"game"``, or ``"deal"``: every deal starts at zero.
    """

    def __init__(self, width: int, lasts: str) -> None:
        self._lasts = lasts
        self._places: dict[int, int] = {}  # by player; the one that was unused for longest comes first
        self._last = np.zeros(0, np.int64)  # the last decision of each player
        self._before = np.zeros((0, 2, width), np.float32)  # the states before that decision, and then after it
        self._after = np.zeros((0, 2, width), np.float32)

    def __len__(self) -> int:
        return len(self._places)

    def recall(self, views: PlayerViews) -> tuple[np.ndarray, np.ndarray]:
        """Where the players' states are kept, (B,) int64, and the states before these decisions, (B, 2, width)."""
        places = self._places_of(players(views))
        now, last = views.decisions.astype(np.int64), self._last[places]
        before = np.where((now == last)[:, None, None], self._before[places], self._after[places])
        is_over = now < last
        if self._lasts == "deal":
            is_over |= now // _DECISIONS_OF_A_DEAL > last // _DECISIONS_OF_A_DEAL
        before[is_over] = 0.0
        self._last[places], self._before[places] = now, before
        return places, before

    def keep(self, places: np.ndarray, states: np.ndarray) -> None:
        """Keeps the states (B, 2, width) after the decisions for which :meth:`recall` gave these places."""
        self._after[places] = states

    def _places_of(self, keys: np.ndarray) -> np.ndarray:
        known, wanted = self._places, keys.tolist()
        for key in wanted:
            if key in known:
                known[key] = known.pop(key)  # to the end
        for key in wanted:
            if key not in known:
                is_full = len(known) >= max(_KEPT, len(wanted))
                place = known.pop(next(iter(known))) if is_full else len(known)
                known[key] = self._cleared(place)
        return np.array([known[key] for key in wanted], np.int64)

    def _cleared(self, place: int) -> int:
        if place >= len(self._last):
            more = max(1024, len(self._last))
            self._last = np.concatenate([self._last, np.zeros(more, np.int64)])
            nothing = np.zeros((more, *self._before.shape[1:]), np.float32)
            self._before, self._after = (np.concatenate([a, nothing]) for a in (self._before, self._after))
        self._last[place], self._after[place] = -1, 0.0
        return place
