"""Episodes played for a learner: many games in lockstep, and the decisions taken in them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agents import Agent
from crib_env.batch import SOURCES, GameBatch
from crib_env.engine import DISCARD
from crib_env.exact.shows import mean_show
from crib_env.kernels import kernel

# (observations (B, n), masks (B, 52), whether each is a discard (B,)) -> cards (B,)
Policy = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Decisions:
    """D decisions of the learner, ordered by game, then seat, then time."""

    observation: np.ndarray  # (D, n) int8
    mask: np.ndarray  # (D, 52) int8
    card: np.ndarray  # (D,) int64
    chain: np.ndarray  # (D,) int64, which player of which game decides; equal numbers stand together
    is_discard: np.ndarray  # (D,) bool
    net_points: np.ndarray  # (D,) own points less the opponent's when the decision is taken
    net_pegging: np.ndarray  # (D,) the same for points in the play alone
    final_points: np.ndarray  # (D,) net points at the end of the episode
    final_pegging: np.ndarray  # (D,)
    settled_show: np.ndarray  # (D,) hand kept and crib without the luck of the cut, see _settled_shows


@dataclass(frozen=True)
class Episodes:
    """What a round of play gave."""

    decisions: Decisions
    returns: np.ndarray  # (N,) net points of the learner (in self-play: of seat 0)
    simulation_seconds: float  # spent on rules, observations and native opponents, not in networks


@kernel
def _settled_shows(games, out):
    """(N, 2): for each seat, hand kept plus crib if dealer or less it if pone, as means over the starters.

    The mean of the hand is over the 46 cards this player has not seen when it discards, that of the crib over the 40
    that neither has seen: what the opponent throws is not luck alone.
    """
    for i in range(len(games)):
        g = games[i]
        held = g["kept"][0] | g["kept"][1] | g["discards"][0] | g["discards"][1]
        crib = mean_show(g["discards"][0] | g["discards"][1], held, True)
        for seat in range(2):
            hand = mean_show(g["kept"][seat], g["kept"][seat] | g["discards"][seat], False)
            out[i, seat] = hand + crib if seat == g["dealer"] else hand - crib


def play_episodes(batch: GameBatch, policy: Policy, opponent: Agent | None, observation: str) -> Episodes:
    """Plays every game of a new batch to its end.

    Args:
        batch: the games.
        policy: the learner's choices, exploration included.
        opponent: plays the other seat; ``None`` is self-play, where the learner's policy plays both. Otherwise the
            learner sits in seat 0 of even games and in seat 1 of odd ones.
        observation: ``"209"`` or ``"board"``.
    """
    started, in_policy = time.perf_counter(), 0.0
    rounds: list[tuple[np.ndarray, ...]] = []
    while len(rows := batch.acting()):
        seats = batch.games["turn"][rows]
        if opponent is not None:
            is_learner = seats == rows % 2
            theirs = rows[~is_learner]
            if len(theirs):
                batch.step(theirs, opponent.act(batch.views(theirs)))
            rows, seats = rows[is_learner], seats[is_learner]
        if not len(rows):
            continue
        seen, masks = batch.observe(rows, observation)
        is_discard = batch.games["phase"][rows] == DISCARD
        before = time.perf_counter()
        cards = policy(seen, masks, is_discard)
        in_policy += time.perf_counter() - before
        points, pegging = _net(batch, rows, seats)
        rounds.append((seen, masks, cards, rows * 2 + seats, is_discard, points, pegging))
        batch.step(rows, cards)

    seen, masks, cards, chain, is_discard, points, pegging = (np.concatenate(parts) for parts in zip(*rounds))
    order = np.argsort(chain, kind="stable")
    chain = chain[order]
    rows, seats = chain // 2, chain % 2
    final_points, final_pegging = _net(batch, rows, seats)
    shows = np.empty((len(batch), 2))
    _settled_shows(batch.games, shows)
    decisions = Decisions(
        seen[order],
        masks[order],
        cards[order],
        chain,
        is_discard[order],
        points[order],
        pegging[order],
        final_points,
        final_pegging,
        shows[rows, seats],
    )
    everyone = np.arange(len(batch))
    returns, _ = _net(batch, everyone, everyone % 2 if opponent is not None else np.zeros_like(everyone))
    return Episodes(decisions, returns, time.perf_counter() - started - in_policy)


def _net(batch: GameBatch, rows: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Net points made so far by ``seats`` in games ``rows``: all, and those of the play."""
    made = batch.games["scores"][rows].astype(np.int64) - batch.games["start_scores"][rows]
    pegged = batch.tally[rows, :, :, SOURCES.index("play")].sum(axis=2)
    each = np.arange(len(rows))
    return made[each, seats] - made[each, 1 - seats], pegged[each, seats] - pegged[each, 1 - seats]
