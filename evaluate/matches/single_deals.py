"""Single deals between two players, each played twice with the seats swapped; series of games as Lang played them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crib_env import PlayerViews
from crib_env.agents import Agent
from crib_env.batch import GameBatch
from crib_env.evaluate.statistics import match_points
from crib_env.kernels import streams
from crib_env.players.games import by_player, play_out, turns

_PAIRS = 2_048  # pairs of deals, or twice as many games, played side by side


def play_deals(
    a: Agent,
    b: Agent,
    pairs: int,
    seed: int,
    *,
    episode: str = "deal",
    cards: int = 4,
    watch: Callable[[PlayerViews, np.ndarray], None] = lambda views, cards: None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> np.ndarray:
    """Plays single deals, each twice with the seats swapped.

    Args:
        episode: ``"deal"``, or ``"play"`` or ``"pegging"`` (:mod:`crib_env.aec`).
        cards: of each player in ``"pegging"``.
        watch: called with every decision and the chosen cards.
        on_progress: called with the number of further pairs done.

    Returns:
        Points (2 pairs, 2, 2, 4) int64, the two games of a deal side by side: of ``a`` and of ``b``, as pone and as
        dealer, by ``crib_env.batch.SOURCES``.
    """
    deals, tallies = streams(seed, pairs), []
    for first in range(0, pairs, _PAIRS):
        part = np.repeat(deals[first : first + _PAIRS], 2)
        batch = GameBatch(part, episode=episode, cards=cards, first_id=2 * first)
        for turn in turns(batch, (a, b)):
            watch(turn.views, turn.cards)
            turn.play()
        tallies.append(by_player(batch, batch.tally))
        on_progress(len(part) // 2)
    return np.concatenate(tallies)


def play_series(a: Agent, b: Agent, games: int, seed: int) -> np.ndarray:
    """Final scores (N, 2) of ``a`` and ``b`` in games from 0–0, each on its own deals, as Lang (2018) played them.

    The players change seats after each game; the first dealer is a fair coin.
    """
    deals, scores = streams(seed, games), []
    for first in range(0, games, 2 * _PAIRS):
        batch = GameBatch(deals[first : first + 2 * _PAIRS], first_id=first)
        play_out(batch, (a, b))
        scores.append(by_player(batch, batch.games["scores"]))
    return np.concatenate(scores)


def wins_series(scores: np.ndarray) -> bool:
    """Whether the first player wins a series: by match points, then by the point spread; a full tie too."""
    first, second = match_points(scores).sum(axis=0)
    return bool(first > second or (first == second and scores[:, 0].sum() >= scores[:, 1].sum()))
