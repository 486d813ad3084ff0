"""Tells the agents that watch the results of deals and games."""

from __future__ import annotations

import numpy as np

from crib_env.agents import Agent
from crib_env.batch import GameBatch
from crib_env.engine import OVER
from crib_env.players.agent import watches
from crib_env.players.results import deal_results, ended_deals, game_results


class Observers:
    """The players of a batch of games that receive results.

    Args:
        batch: the games.
        players: agents, each with its seats, (B,) 0 or 1.
    """

    def __init__(self, batch: GameBatch, *players: tuple[Agent, np.ndarray]) -> None:
        self._batch = batch
        self._seats = [(agent, seats) for agent, seats in players if watches(agent)]

    def __len__(self) -> int:
        return len(self._seats)

    def tell(self, rows: np.ndarray, before: np.ndarray, cards: np.ndarray) -> None:
        """Call it after ``cards`` were played in games ``rows``; ``before`` are copies of the games before that."""
        ended, tables = ended_deals(before, cards)
        if not len(ended):
            return
        rows = rows[ended]
        ids, over = self._batch.game_ids[rows], tables["phase"] == OVER
        for agent, seats in self._seats:
            agent.observe_deal(deal_results(tables, seats[rows], ids))
            if over.any():
                agent.observe_end(game_results(tables[over], seats[rows][over], ids[over]))
