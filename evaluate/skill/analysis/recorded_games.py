"""Recorded games, replayed side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews, parse_cards
from crib_env.engine import DEAL, GAME, GAME_EPISODE, OVER, act, begin_deal, begin_game
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.kernels import kernel
from crib_env.views import views_of


@kernel
def _begin(games, first_dealers, scores):
    for n in range(len(games)):
        begin_game(games[n], GAME_EPISODE, first_dealers[n], scores[n, 0], scores[n, 1], np.int64(-1))


@kernel
def _deal(games, rows):
    for i in rows:
        begin_deal(games[i])


@kernel
def _act(games, rows, cards):
    for b in range(len(rows)):
        act(games[rows[b]], cards[b])


class Moment(NamedTuple):
    """A card about to be discarded or laid in each of B games."""

    rows: np.ndarray
    """(B,) int64, the index of each game."""
    seats: np.ndarray
    """(B,) int64, the seat that acts."""
    views: PlayerViews
    """What they see."""
    deals: np.ndarray
    """(B,) int64, number of the deal, from 0."""
    places: np.ndarray
    """(B,) int64, number of the card in its deal, from 0."""
    cards: np.ndarray
    """(B,) int64, the card."""
    pairs: np.ndarray
    """(B,) int64, the next card of the same deal, which after a first discard is the second one; or -1."""


class RecordedGames:
    """Recorded games, replayed from their first card.

    Args:
        records: valid games (:meth:`crib_env.evaluate.matches.game_records.GameRecord.check`).

    Attributes:
        games: (N,) records of dtype :data:`crib_env.engine.GAME`, in their current state.
    """

    def __init__(self, records: Sequence[GameRecord]) -> None:
        self._deals = [[parse_cards(deal) for deal in record.deals] for record in records]
        self._cards = [[parse_cards(cards) for cards in record.cards] for record in records]
        self.games = np.zeros(len(records), GAME)
        first_dealers = np.array([record.first_dealer for record in records], np.int64)
        _begin(self.games, first_dealers, np.array([record.start_scores for record in records], np.int64))

    def moments(self) -> Iterator[Moment]:
        """Plays all games to their ends; yields each moment before its cards are played."""
        games, places = self.games, np.zeros(len(self.games), np.int64)
        while len(rows := np.flatnonzero(games["phase"] != OVER)):
            begun = rows[games["phase"][rows] == DEAL]
            for row in begun.tolist():
                games["cards"][row] = self._deals[row][games["n_deals"][row]]
            _deal(games, begun)
            places[begun] = 0
            deals = games["n_deals"][rows].astype(np.int64) - 1
            left = [self._cards[row][deal][place:] for row, deal, place in zip(rows, deals, places[rows])]
            cards, pairs = (np.array([one[k] if len(one) > k else -1 for one in left]) for k in range(2))
            seats = games["turn"][rows].astype(np.int64)
            yield Moment(rows, seats, views_of(games, rows, seats, rows), deals, places[rows], cards, pairs)
            _act(games, rows, cards)
            places[rows] += 1
