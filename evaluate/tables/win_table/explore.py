"""Deals in which one player discards at random, mostly what is nearly best, so that all kinds of hands are played."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.skill.positions import play_after_discards
from crib_env.exact.discard_statistics import PLACES
from crib_env.players.agent import Agent
from crib_env.tables.discard_values import discard_points

_TEMPERATURE = 1.5  # points: a discard that is this much worse is drawn 1/e times as often


def roles_of(seeds: np.ndarray) -> np.ndarray:
    """(n,) the role of the player who discards at random in each deal."""
    return np.where(seeds % np.uint64(2) == 0, DEALER, PONE)


class Explored(NamedTuple):
    """n deals, each played at C pairs of scores."""

    batch: GameBatch
    """Of n * C games, all that belong to a deal together."""
    seats: np.ndarray
    """(n,) of the player who discarded at random; the dealer sits on 0."""
    sixes: np.ndarray
    """(n, 6) int64, its cards, sorted."""
    places: np.ndarray
    """(n,) which of the fifteen discards it drew, in the order of ``PLACES``."""


def explore(agent: Agent, seeds: np.ndarray, scores: np.ndarray) -> Explored:
    """Plays deals; all but the discards of one player, by turns the dealer and pone, are the agent's.

    Args:
        agent: both players.
        seeds: (n,) of the deals, by which the discards are drawn as well.
        scores: (C, 2) of the player who discards at random, and of its opponent.
    """
    n, width = len(seeds), len(scores)
    batch = GameBatch(np.repeat(seeds, width), episode="deal", first_dealer=0)
    explorer = np.where(roles_of(seeds) == DEALER, 0, 1)
    seats, all_rows = np.repeat(explorer, width), np.arange(n * width)
    start = np.empty((n * width, 2), np.int64)
    start[all_rows, seats], start[all_rows, 1 - seats] = np.tile(scores, (n, 1)).T
    batch.games["scores"] = batch.games["start_scores"] = start

    dealt = batch.games["cards"][::width].astype(np.int64)
    sixes = np.sort(np.take_along_axis(dealt, 6 * explorer[:, None] + np.arange(6), axis=1), axis=1)
    places = _drawn(discard_points(sixes, explorer == 0), seeds)
    pairs = sixes[np.arange(n)[:, None], PLACES[places]]
    play_after_discards(agent, batch, seats, np.repeat(pairs, width, axis=0))
    return Explored(batch, explorer, sixes, places)


def _drawn(points: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """(n,) a discard for each row of ``points`` (n, 15), drawn by its seed."""
    chances = np.exp((points - points.max(axis=1, keepdims=True)) / _TEMPERATURE)
    limits = chances.cumsum(axis=1) / chances.sum(axis=1, keepdims=True)
    drawn = np.array([np.random.default_rng(seed).random() for seed in seeds])
    places: np.ndarray = (drawn[:, None] >= limits).sum(axis=1)
    return places
