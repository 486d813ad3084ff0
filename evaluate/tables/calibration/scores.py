"""Pairs of scores: the chance to win that a win table states, against whole games that are played from there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import WIN
from crib_env.evaluate.skill.luck.table import WINS
from crib_env.evaluate.skill.luck.variates import LuckMeter, less_luck, results
from crib_env.evaluate.statistics import half_width, rate_less_luck
from crib_env.players.agent import Agent
from crib_env.players.win_rate import Z

_NEAR = 100
"""Two thirds of the pairs have a score above this."""
_FURTHEST = 30
"""Points between the two scores of a position at most."""


def draw_scores(rng: np.random.Generator, n: int) -> np.ndarray:
    """Pairs of scores (n, 2), the dealer's first, without repetition."""
    dealer, pone = np.divmod(np.arange(WIN * WIN), WIN)
    pairs, is_near = np.stack([dealer, pone], axis=1), np.maximum(dealer, pone) > _NEAR
    near = -(-2 * n // 3)
    drawn = [rng.choice(np.flatnonzero(kind), size, False) for kind, size in ((is_near, near), (~is_near, n - near))]
    return pairs[np.concatenate(drawn)]


def draw_late_scores(rng: np.random.Generator, n: int, lowest: int, highest: int) -> np.ndarray:
    """Scores of both seats (n, 2), the higher one from ``lowest`` to ``highest``, the other at most 30 below it."""
    higher = rng.integers(lowest, highest + 1, n)
    lower = rng.integers(np.maximum(higher - _FURTHEST, 0), higher + 1)
    scores = np.stack([higher, lower], axis=1)
    swapped = rng.random(n) < 0.5
    scores[swapped] = scores[swapped, ::-1]
    return scores


def chances_after(games: np.ndarray, seats: np.ndarray, win_table: np.ndarray) -> np.ndarray:
    """What deals that are over are worth to a seat, (n,): 1 for a win in the deal, else the chance to win after it.

    Args:
        games: (n,) of the deal episode.
        seats: (n,) whose chance.
        win_table: (121, 121) the dealer's chance to win.
    """
    at, scores = np.arange(len(games)), games["scores"].astype(np.int64)
    own, other = scores[at, seats], scores[at, 1 - seats]
    a, b = np.minimum(own, WIN - 1), np.minimum(other, WIN - 1)
    after: np.ndarray = np.where(games["dealer"] == seats, 1 - win_table[b, a], win_table[a, b])  # the deal passes
    after[own >= WIN], after[other >= WIN] = 1.0, 0.0
    return after


class GamesFrom(NamedTuple):
    """n games from each of C pairs of scores."""

    scores: np.ndarray
    """(n, C, 2) int64 at the end, the dealer's first."""
    luck: np.ndarray
    """(n, C, 3) float64 the dealer's luck (:mod:`crib_env.evaluate.skill.luck.variates`)."""

    def dealer_wins(self) -> np.ndarray:
        """(C, 2) float64: the dealer's win rate less luck, and its standard error, a part of Wilson's interval."""
        rates = np.empty((self.scores.shape[1], 2))
        for k in range(len(rates)):
            won = results(self.scores[:, k])
            rates[k, 0], interval = rate_less_luck(won[:, WINS], less_luck(won, self.luck[:, k])[:, WINS])
            rates[k, 1] = half_width(interval) / Z
        return rates


def games_from(agent: Agent, scores: np.ndarray, seeds: np.ndarray) -> GamesFrom:
    """Games that begin at C pairs of scores.

    The same cards are dealt at all pairs, so that an agent that searches values them together.

    Args:
        agent: both players.
        scores: (C, 2) of dealer and pone.
    """
    n, width = len(seeds), len(scores)
    batch = GameBatch(np.repeat(seeds, width), first_dealer=0)
    batch.games["scores"] = batch.games["start_scores"] = np.tile(scores, (n, 1))
    meter = LuckMeter(batch.games, by_coin=False)
    while len(rows := batch.acting()):
        batch.step(rows, agent.act(batch.views(rows)))
        meter.note(rows)
    ends = batch.games["scores"].astype(np.int64)
    return GamesFrom(ends.reshape(n, width, 2), meter.luck.sum(axis=1).reshape(n, width, -1))
