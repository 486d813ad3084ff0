"""Series of games as Lang (2018) played them: each on its own deals, judged by match points and point spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crib_env.agents import Agent
from crib_env.batch import GameBatch
from crib_env.engine import WIN
from crib_env.evaluate.statistics import match_points
from crib_env.kernels import streams
from crib_env.players.games import by_player, play_out

_AT_ONCE = 4_096


@dataclass(frozen=True)
class Series:
    """Final scores of games, (N, 2): the first player's and the second's, in the order of play."""

    scores: np.ndarray

    def spread(self, n: int) -> int:
        """Points of the first player minus those of the second, over the first ``n`` games."""
        return int((self.scores[:n, 0] - self.scores[:n, 1]).sum())

    def wins(self, n: int) -> int:
        """How many of the first ``n`` games the first player won."""
        return int((self.scores[:n, 0] >= WIN).sum())

    def match_points(self, n: int) -> tuple[int, int]:
        """Match points of both over the first ``n`` games: 2 for a win, 3 with a skunk."""
        points = match_points(self.scores[:n]).sum(axis=0)
        return int(points[0]), int(points[1])

    def is_won(self, n: int) -> bool:
        """Whether the first player wins a match of ``n`` games: by match points, then by spread; a full tie too."""
        first, second = self.match_points(n)
        return first > second or (first == second and self.spread(n) >= 0)


def play_series(a: Agent, b: Agent, games: int, seed: int) -> Series:
    """Plays ``games`` games from 0–0, the players changing seats after each; the first dealer is a fair coin."""
    deals = streams(seed, games)
    scores = [_play(a, b, deals[first : first + _AT_ONCE], first) for first in range(0, games, _AT_ONCE)]
    return Series(np.concatenate(scores))


def _play(a: Agent, b: Agent, deals: np.ndarray, first_id: int) -> np.ndarray:
    batch = GameBatch(deals, first_id=first_id)
    play_out(batch, (a, b))
    return by_player(batch, batch.games["scores"])
