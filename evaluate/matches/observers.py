"""Players that receive the results of deals and games: ``observe_deal`` and ``observe_end`` of an agent."""

from __future__ import annotations

import numpy as np

from crib_env.agents import Agent
from crib_env.batch import GameBatch
from crib_env.engine import OVER
from crib_env.players.results import deal_results, ended_deals, game_results


class Observers:
    """The players of a batch of games that receive results.

    Args:
        batch: the games.
        players: agents, each with its seats, (B,) 0 or 1.
    """

    def __init__(self, batch: GameBatch, *players: tuple[Agent, np.ndarray]) -> None:
        self._batch = batch
        self._seats = [(agent, seats) for agent, seats in players if observes(agent)]

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
            if observe_deal := getattr(agent, "observe_deal", None):
                observe_deal(deal_results(tables, seats[rows], ids))
            if over.any() and (observe_end := getattr(agent, "observe_end", None)):
                observe_end(game_results(tables[over], seats[rows][over], ids[over]))


def observes(agent: Agent) -> bool:
    """Whether an agent receives any results."""
    return hasattr(agent, "observe_deal") or hasattr(agent, "observe_end")
