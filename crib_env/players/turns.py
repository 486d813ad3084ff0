"""The loop that plays a batch of games: each player decides all games in which it acts at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import OVER
from crib_env.players.agent import Agent, watches
from crib_env.players.agent_from_text import as_agent
from crib_env.players.results import deal_results, ended_deals, game_results
from crib_env.views import PlayerViews


class Turn(NamedTuple):
    """What a player has chosen in B games of a batch; :meth:`play` plays it."""

    batch: GameBatch
    agent: Agent
    player: int
    """0 or 1, of the players of :func:`turns`."""
    rows: np.ndarray
    """(B,) int64, the games."""
    views: PlayerViews
    cards: np.ndarray
    """(B,) as the agent gave them."""
    seconds: float
    """How long the agent took."""

    def play(self) -> None:
        """Plays these cards.

        Raises:
            ValueError: they are not B card ids, or one is not legal; the message names the agent, game and card.
        """
        try:
            self.batch.step(self.rows, self.cards)
        except ValueError as error:
            raise ValueError(f"agent {self.agent.name!r} in {error}") from None


def turns(batch: GameBatch, players: Sequence[Agent]) -> Iterator[Turn]:
    """Asks players for their cards until all games are over. Call :meth:`Turn.play` on each turn before the next one.

    Args:
        players: one agent that plays both seats, or two. The first of two has seat 0 in games of even ids, and seat 1
            in the others.
    """
    agents = [as_agent(player) for player in players]
    seat_of_first = batch.game_ids % 2
    while len(rows := batch.acting()):
        acts = (batch.games["turn"][rows] != seat_of_first[rows]) & (len(agents) > 1)
        for player, agent in enumerate(agents):
            mine = rows[acts == player]
            if not len(mine):
                continue
            views = batch.views(mine)
            before = perf_counter()
            cards = agent.act(views)
            yield Turn(batch, agent, player, mine, views, cards, perf_counter() - before)


def play_out(batch: GameBatch, players: Sequence[Agent]) -> None:
    """Plays all games of a batch to their ends; arguments as for :func:`turns`.

    Raises:
        ValueError: an agent chose an illegal card.
    """
    for turn in turns(batch, players):
        turn.play()


def by_player(batch: GameBatch, by_seat: np.ndarray) -> np.ndarray:
    """Values (n, 2, …) of a batch's games by seat as (n, 2, …) int64 by player of :func:`turns`."""
    out = by_seat.astype(np.int64)
    is_swapped = batch.game_ids % 2 == 1
    out[is_swapped] = out[is_swapped, ::-1]
    return out


class Observers:
    """Those players of a batch of games that watch the results of deals and games.

    Args:
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
