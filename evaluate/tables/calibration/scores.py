"""Pairs of scores: the chance to win that a win table states, against whole games that are played from there."""

from __future__ import annotations

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import WIN
from crib_env.players.agent import Agent

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


def dealer_wins(agent: Agent, scores: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Who wins games that begin at C pairs of scores, (n, C) bool: whether the dealer does.

    The same cards are dealt at all pairs, so that an agent that searches values them together.

    Args:
        agent: both players.
        scores: (C, 2) of dealer and pone.
        seeds: (n,) of the games.
    """
    n, width = len(seeds), len(scores)
    batch = GameBatch(np.repeat(seeds, width), first_dealer=0)
    batch.games["scores"] = batch.games["start_scores"] = np.tile(scores, (n, 1))
    while len(rows := batch.acting()):
        batch.step(rows, agent.act(batch.views(rows)))
    won: np.ndarray = batch.games["scores"][:, 0].reshape(n, width) >= WIN
    return won
