"""Deals for ``response``: what every card that could be laid comes to against an opponent, by playing each of them out.

Cards, discards and show are the same whichever card is laid, and both players lay what they think best afterwards. So
the answers about one decision differ by nothing but its card; what chance is left in them is the opponent's hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents import Agent
from agents.best import BestAgent
from agents.best_inputs import N_PLAY_INPUTS, play_inputs
from agents.discards import lowest_of_rank
from crib_env import PlayerViews
from crib_env.batch import GameBatch
from crib_env.engine import DISCARD, WIN
from crib_env.exact.analysis import outlook
from train.replay import Columns

_PERCENT = 100.0
_POINT = 2.0  # what a point is worth at 0–0, percent


@dataclass(frozen=True)
class PlayedOut(Columns):
    """M decisions of the play, and what became of the deal with each rank."""

    seen: np.ndarray  # (M, N_PLAY_INPUTS / 8) uint8, inputs as packed bits
    chances: np.ndarray  # (M, 13) float32, to win the game when the deal is over, percent; -1 where no legal rank
    weight: np.ndarray  # (M,) float32, at most 1; less where much is at stake, as chances are then wide apart

    @classmethod
    def empty(cls, n: int) -> PlayedOut:
        """Rows of zeros."""
        packed = np.zeros((n, (N_PLAY_INPUTS + 7) // 8), np.uint8)
        return cls(packed, np.zeros((n, 13), np.float32), np.zeros(n, np.float32))


def chances_to_win(games: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """(N,) percent of ``seats`` (N,) in games whose deal is over, by the standard board."""
    rows = np.arange(len(games))
    own, other = (games["scores"][rows, seat].astype(np.int64) for seat in (seats, 1 - seats))
    at, others_at = np.minimum(own, WIN - 1), np.minimum(other, WIN - 1)
    board, deals_next = outlook().board, games["dealer"] != seats
    chances = np.where(deals_next, board[at, others_at], 1 - board[others_at, at])
    return _PERCENT * np.where(np.maximum(own, other) >= WIN, own >= WIN, chances)


def point_worth(games: np.ndarray) -> np.ndarray:
    """(N,) percent that a point more, or one less for the opponent, adds to a chance to win, before the deal."""
    board, rows = outlook().board, np.arange(len(games))
    dealer = games["dealer"].astype(np.int64)
    own, other = games["start_scores"][rows, dealer], games["start_scores"][rows, 1 - dealer]
    return _PERCENT * (board[np.minimum(own + 1, WIN - 1), other] - board[own, np.minimum(other + 1, WIN - 1)]) / 2


def throw(batch: GameBatch, seats: np.ndarray, agent: BestAgent, opponent: Agent) -> None:
    """All discards of new deals, in which the agent has ``seats`` (N,)."""
    while len(rows := np.flatnonzero(batch.games["phase"] == DISCARD)):
        batch.step(rows, _decide(batch, rows, seats, agent, opponent)[2])


def play_out(batch: GameBatch, seats: np.ndarray, agent: BestAgent, opponent: Agent) -> np.ndarray:
    """Plays deals to their end by what both think best; the agent's chances to win then, (N,) percent."""
    while len(rows := batch.acting()):
        batch.step(rows, _decide(batch, rows, seats, agent, opponent)[2])
    return chances_to_win(batch.games, seats)


def _decide(
    batch: GameBatch, rows: np.ndarray, seats: np.ndarray, agent: BestAgent, opponent: Agent
) -> tuple[PlayerViews, np.ndarray, np.ndarray]:
    """What is seen in these B games, whether the agent is to act, (B,) bool, and what each player thinks best, (B,)."""
    views, is_own = batch.views(rows), batch.games["turn"][rows] == seats[rows]
    cards = np.empty(len(rows), np.int64)
    for player, whose in ((agent, is_own), (opponent, ~is_own)):
        if whose.any():
            cards[whose] = player.act(views[whose])
    return views, is_own, cards


def play_and_ask(
    batch: GameBatch, agent: BestAgent, opponent: Agent, epsilon: float, rng: np.random.Generator
) -> PlayedOut:
    """Plays new deals to their end, and from every choice that the agent has in the play each rank that is legal.

    Args:
        batch: of deals, without forced decisions; the agent has seat 0 in those of even number, else seat 1.
        agent: lays what it thinks best, but for a share ``epsilon`` of random cards.
        opponent: whoever.
        rng: draws.
    """
    seats = np.arange(len(batch)) % 2
    weight = np.minimum(1.0, (_POINT / np.maximum(point_worth(batch.games), 1e-9)) ** 2).astype(np.float32)
    throw(batch, seats, agent, opponent)
    parts = []
    while len(rows := batch.acting()):
        views, is_own, cards = _decide(batch, rows, seats, agent, opponent)
        own, views = rows[is_own], views[is_own]
        if len(own):
            legal = views.action_mask.reshape(-1, 4, 13).max(axis=1) > 0
            decision, rank = np.nonzero(legal)
            branches = batch.copies(own[decision])
            branches.step(np.arange(len(rank)), lowest_of_rank(views[decision], rank))
            chances = np.full(legal.shape, -1.0, np.float32)
            chances[decision, rank] = play_out(branches, seats[own[decision]], agent, opponent)
            parts.append(PlayedOut(np.packbits(play_inputs(views), axis=1), chances, weight[own]))
            strays = np.flatnonzero(rng.random(len(own)) < epsilon)
            drawn = np.where(legal[strays], rng.random((len(strays), 13)), -1.0).argmax(axis=1)
            cards[np.flatnonzero(is_own)[strays]] = lowest_of_rank(views[strays], drawn)
        batch.step(rows, cards)
    return PlayedOut(*(np.concatenate(columns) for columns in zip(*(vars(part).values() for part in parts))))
