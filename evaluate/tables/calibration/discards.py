"""Discards: the chance to win that the analysis states, against deals that are played out with common cards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import DEAL_EPISODE
from crib_env.evaluate.skill.positions import begin_all, play_after_discards
from crib_env.evaluate.tables.calibration.scores import chances_after, draw_late_scores
from crib_env.exact.discard_statistics import PLACES
from crib_env.kernels import streams
from crib_env.players.agent import Agent


class Positions(NamedTuple):
    """P positions before a discard."""

    sixes: np.ndarray
    """(P, 6) int64 sorted cards."""
    is_dealer: np.ndarray
    """(P,) bool."""
    scores: np.ndarray
    """(P, 2) int64 own score and the opponent's."""


def draw_positions(rng: np.random.Generator, n: int, lowest: int, highest: int) -> Positions:
    """Random positions, the higher of the two scores from ``lowest`` to ``highest``, the other at most 30 below it."""
    sixes = np.sort(np.stack([rng.choice(52, 6, replace=False) for _ in range(n)]), axis=1)
    scores = draw_late_scores(rng, n, lowest, highest)
    return Positions(sixes, rng.random(n) < 0.5, scores)


def play_out(
    agent: Agent,
    position: Positions,
    discards: np.ndarray,
    deals: int,
    rng: np.random.Generator,
    win_table: np.ndarray,
) -> np.ndarray:
    """What each of K discards comes to in one position, (deals, K): 1 for a win in the deal, or the chance after it.

    All discards meet the same cards of the opponent and the same starters.

    Args:
        agent: plays everything but the discard, in both seats.
        discards: (K,) numbers of discards, in the order of ``PLACES``.
        rng: deals the cards that the player does not see.
        win_table: (121, 121) the dealer's chance to win after the deal.
    """
    six, is_dealer, scores = position.sixes[0], bool(position.is_dealer[0]), position.scores
    rest = np.setdiff1d(np.arange(52), six)
    hidden = np.stack([rng.permutation(rest)[:7] for _ in range(deals)])
    n, k = deals * len(discards), len(discards)
    cards = np.concatenate([np.tile(six, (n, 1)), np.repeat(hidden, k, axis=0)], axis=1)
    batch = GameBatch(np.repeat(streams(int(rng.integers(2**32)), deals), k), episode="deal")
    begin_all(batch.games, cards, np.full(n, 0 if is_dealer else 1), np.repeat(scores, n, axis=0), DEAL_EPISODE)
    seats = np.zeros(n, np.int64)
    play_after_discards(agent, batch, seats, np.tile(six[PLACES[discards]], (deals, 1)))
    return chances_after(batch.games, seats, win_table).reshape(deals, k)
