"""What players share who draw their cards from a solution of the play in points (:mod:`crib_env.solver`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.discards import lowest_of_rank
from crib_env.engine import WIN
from crib_env.observation import N_ACTIONS

RARE = 0.03
"""Ranks less likely than this share of the most likely one are dropped: they are errors of few iterations or of a
network."""
_NEAR = 25  # points to the end of the game


def near_end(views: PlayerViews) -> np.ndarray:
    """(B,) bool: whether a player is so near the end of a game that points do not stand for the chance to win. Never in
    the pegging episode."""
    return (views.scores.max(axis=1) >= WIN - _NEAR) & (views.starter >= 0)


def without_rare(chances: np.ndarray) -> np.ndarray:
    """Chances of ranks (B, 13) without the rare ones (``RARE``); each row adds up to 1."""
    kept = np.where(chances < RARE * chances.max(axis=1, keepdims=True), 0.0, chances)
    return kept / kept.sum(axis=1, keepdims=True)


def card_chances(
    views: PlayerViews,
    discard: Callable[[PlayerViews], np.ndarray],
    rank_chances: Callable[[PlayerViews], np.ndarray],
) -> np.ndarray:
    """How likely each card is chosen in B decisions, (B, 52).

    Args:
        views: the decisions.
        discard: chooses the discards, without chance.
        rank_chances: how likely each rank is laid at decisions of the play, (b, 13); of a rank it is the lowest card.
    """
    chances, discards = np.zeros((len(views), N_ACTIONS)), np.flatnonzero(views.is_discard)
    if len(discards):
        chances[discards, discard(views[discards])] = 1.0
    play = np.flatnonzero(~views.is_discard)
    if len(play):
        by_rank = rank_chances(views[play])
        row, rank = by_rank.nonzero()
        chances[play[row], lowest_of_rank(views[play[row]], rank)] = by_rank[row, rank]
    return chances
