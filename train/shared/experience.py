"""Experience: many games played in lockstep, the decisions taken in them with their rewards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crib_env.agents import Agent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.seen import Seen
from crib_env.batch import GameBatch, standings
from crib_env.engine import DISCARD
from crib_env.evaluate.runs.format import EPISODE_RETURN, NET_POINTS_IN_TRAINING
from crib_env.train.loop.settings import Precision
from crib_env.train.shared.gradients import precision
from crib_env.train.shared.replay import Columns

# (what B players to act of these games (B,) see)
Sight = Callable[[GameBatch, np.ndarray], Seen]
# (B decisions, whether each is a discard (B,), which player of which game decides (B,), as in ``Decisions.chain``) ->
# cards (B,)
Policy = Callable[[Seen, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Decisions(Columns):
    """D decisions of the learner, ordered by game, then seat, then time.

    Standings are the learner's minus the opponent's (:func:`crib_env.batch.standings`). The reward between two
    decisions is the difference of the standings.
    """

    chain: np.ndarray  # (D,) int64, which player of which game decides; equal numbers are consecutive
    inputs: Any  # (D, n) int8, like gains an array, or a tensor on a device
    gains: Any  # (D, 52) float32, -inf for a card that is not legal
    card: np.ndarray  # (D,) int64; inputs, gains and cards are named as in `Seen`
    is_discard: np.ndarray  # (D,) bool
    points: np.ndarray  # (D,) float64, when the decision is taken
    settled: np.ndarray  # (D,) float64
    final_points: np.ndarray  # (D,) float64, at the end of the episode
    final_settled: np.ndarray  # (D,) float64


def play_episodes(
    batch: GameBatch, policy: Policy, opponent: Agent | None, see: Sight, compute: Precision = "float32"
) -> Decisions:
    """Plays every game of a new batch to its end, and keeps the learner's decisions.

    Args:
        policy: the learner's choices, exploration included.
        opponent: plays the other seat; ``None`` is self-play, where the learner's policy plays both. Otherwise the
            learner sits in seat 0 of even games and in seat 1 of odd ones.
        see: what the learner sees.
    """
    rounds: list[tuple[np.ndarray, ...]] = []
    with precision(compute):
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
            seen = see(batch, rows)
            is_discard = batch.games["phase"][rows] == DISCARD
            chain = rows * 2 + seats
            cards = policy(seen, is_discard, chain)
            kinds = chain, seen.inputs, seen.gains, seen.named(cards), is_discard
            rounds.append((*kinds, *standings(batch, rows, seats)))
            batch.step(rows, cards)
    columns = [np.concatenate(column) for column in zip(*rounds)]
    order = np.argsort(columns[0], kind="stable")
    chain = columns[0][order]
    columns = [column[order] for column in columns] + [*standings(batch, chain // 2, chain % 2)]
    return Decisions(*columns)


def rewards_of(decisions: Decisions, settled: bool) -> tuple[np.ndarray, np.ndarray]:
    """The reward of each decision up to the same player's next, (D,), and whether there is no next one, (D,) bool."""
    now = decisions.settled if settled else decisions.points
    final = decisions.final_settled if settled else decisions.final_points
    ends = np.append(decisions.chain[1:] != decisions.chain[:-1], True)
    return np.where(ends, final, np.roll(now, -1)) - now, ends


def returns_of(decisions: Decisions, rewards: np.ndarray, ends: np.ndarray, opponent: Agent | None) -> dict[str, float]:
    """Scalars for TensorBoard, by :func:`rewards_of`; in self-play net points would be luck alone."""
    values = {EPISODE_RETURN: float(rewards.sum() / ends.sum())}
    return values if opponent is None else values | {NET_POINTS_IN_TRAINING: float(decisions.final_points[ends].mean())}


def epsilon_greedy(cards: np.ndarray, legal: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """The given cards (B,), each replaced by a random legal one, (B, 52) bool, with probability ``epsilon``."""
    out = cards.copy()
    random_rows = np.flatnonzero(rng.random(len(cards)) < epsilon)
    noise = rng.random((len(random_rows), legal.shape[1]))
    out[random_rows] = np.where(legal[random_rows], noise, -1.0).argmax(axis=1)
    return out


def explore(agent: DDQNAgent, epsilon: float, rng: np.random.Generator) -> Policy:
    """The agent's ε-greedy policy over legal cards."""

    def policy(seen: Seen, is_discard: np.ndarray, chain: np.ndarray) -> np.ndarray:
        return epsilon_greedy(agent.choose(seen, is_discard), seen.legal, epsilon, rng)

    return policy
