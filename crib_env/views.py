"""The input of an agent: arrays over a batch of decisions, without any card hidden from the player."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from crib_env.engine import DEAL_EPISODE, DISCARD, GAME, PEGGING_EPISODE, PLAY, starter, starter_is_cut
from crib_env.kernels import bit, kernel, list_cards, mask_of, popcount
from crib_env.observation import N_ACTIONS, observation_named, write_mask, write_observation, writing
from crib_env.ranks import ranks_and_gains_of


@dataclass(frozen=True)
class PlayerViews:
    """B decisions, each seen by the player who makes it; ``len(views) == B``.

    Cards are ids, -1 where there is none. Scores and seats are from the player's side: own first.
    """

    action_mask: np.ndarray
    """(B, 52) int8, 1 for each legal card."""
    hand: np.ndarray
    """(B, 6) int8, cards held, lowest id first."""
    discards: np.ndarray
    """(B, 2) int8, own discards, lowest id first; none in the pegging episode."""
    starter: np.ndarray
    """(B,) int8, once cut; none in the pegging episode."""
    laid: np.ndarray
    """(B, 8) int8, the play of this deal, oldest first."""
    laid_by: np.ndarray
    """(B, 8) int8, who laid each: 0 this player, 1 the opponent."""
    n_laid: np.ndarray
    """(B,) int8, how many cards are laid."""
    pile_start: np.ndarray
    """(B,) int8, index in ``laid`` of the first card of the current count."""
    count: np.ndarray
    """(B,) int8, 0 to 30."""
    scores: np.ndarray
    """(B, 2) int16, own score and the opponent's."""
    is_dealer: np.ndarray
    """(B,) bool."""
    opponent_cards: np.ndarray
    """(B,) int8, how many cards the opponent holds."""
    game_ids: np.ndarray
    """(B,) int64, unique per game: the key for memory and for random streams."""
    decisions: np.ndarray
    """(B,) int16, decisions taken in the game before this one, by both players."""

    def __len__(self) -> int:
        return len(self.game_ids)

    @property
    def arrays(self) -> Any:
        """The same arrays as one argument for a Numba kernel, a NamedTuple."""
        return ViewArrays(*_ARRAYS(self))

    # Derived arrays, computed only when they are used.

    @cached_property
    def is_discard(self) -> np.ndarray:
        """(B,) bool, which decisions are discards; the others belong to the play, where nobody holds five cards."""
        return self.hand[:, 4] >= 0

    @cached_property
    def kept(self) -> np.ndarray:
        """(B, 4) int8, the player's hand before the play, lowest id first; -1 until both discards are made."""
        own_laid = np.where(self.laid_by == 0, self.laid, np.int8(-1))
        cards = np.sort(np.concatenate([self.hand, own_laid], axis=1), axis=1)
        return np.where(cards[:, -5:-4] < 0, cards[:, -4:], np.int8(-1))

    @cached_property
    def pile_ranks(self) -> np.ndarray:
        """(B, 8) int8, the ranks (0 to 12) laid in this count, oldest first, then -1."""
        places = np.arange(8) + self.pile_start[:, None]
        cards = np.take_along_axis(self.laid, np.minimum(places, 7), axis=1)
        return np.where((places < 8) & (cards >= 0), cards % 13, -1).astype(np.int8)

    @cached_property
    def said_go(self) -> np.ndarray:
        """(B, 2) bool, who has said go in this count, this player first. A player without cards does not say go."""
        in_count = (np.arange(8) >= self.pile_start[:, None]) & (self.laid >= 0)
        waits = self.action_mask.max(axis=1) == 0
        lays_next = np.concatenate([self.laid_by[:, 1:], np.full((len(self), 1), -1, np.int8)], axis=1)
        np.put_along_axis(lays_next, np.maximum(self.n_laid - 1, 0)[:, None], waits[:, None].astype(np.int8), axis=1)
        twice = in_count & (self.laid_by == lays_next)  # somebody lays again: the other has said go
        holds = np.stack([(self.hand >= 0).any(axis=1), self.opponent_cards > 0], axis=1)
        return holds & np.stack([(twice & (self.laid_by == by)).any(axis=1) for by in (1, 0)], axis=1)

    @cached_property
    def games(self) -> np.ndarray:
        """(B,) ``GAME`` records of the deal as each player knows it, with the player in seat 0.

        Cards that the opponent holds have ids from 52 on, its discards are empty, and the starter is -1 until it is
        cut.
        """
        games = np.zeros(len(self), GAME)
        _write_known(games, self.arrays)
        return games

    def observed(self, observation: str) -> np.ndarray:
        """(B, size) int8, an observation by its name, see :mod:`crib_env.observation`."""
        seen = observation_named(observation)
        out = np.zeros((len(self), seen.size), np.int8)
        writing(_write_observations, seen.write)(self.games, out)
        return out

    @cached_property
    def observation(self) -> np.ndarray:
        """(B, 209) int8."""
        return self.observed("209")

    @cached_property
    def board(self) -> np.ndarray:
        """(B, 659) int8, the board observation."""
        return self.observed("board")

    @property
    def ranks(self) -> np.ndarray:
        """(B, 479) int8, the inputs by rank."""
        return self.ranks_and_gains[0]

    @cached_property
    def ranks_and_gains(self) -> tuple[np.ndarray, np.ndarray]:
        """The inputs by rank, and the gains (B, 52) float32, see :mod:`crib_env.ranks`."""
        return ranks_and_gains_of(self.games, np.arange(len(self)), np.zeros(len(self), np.int64))

    def __getitem__(self, rows: np.ndarray | slice) -> PlayerViews:
        """Some of the decisions, by index array, bool array or slice."""
        return PlayerViews(*(getattr(self, field.name)[rows] for field in fields(self)))


_NAMES = [field.name for field in fields(PlayerViews)]
_ARRAYS = attrgetter(*_NAMES)
ViewArrays: Any = namedtuple("ViewArrays", _NAMES)  # type: ignore[misc]


def views_of(games: np.ndarray, rows: np.ndarray, seats: np.ndarray, game_ids: np.ndarray) -> PlayerViews:
    """The views of ``games[rows]`` (GAME records) by ``seats`` (B,), all int64 arrays of length B."""
    n = len(rows)
    views = PlayerViews(
        action_mask=np.zeros((n, N_ACTIONS), np.int8),
        hand=np.full((n, 6), -1, np.int8),
        discards=np.full((n, 2), -1, np.int8),
        starter=np.full(n, -1, np.int8),
        laid=np.full((n, 8), -1, np.int8),
        laid_by=np.full((n, 8), -1, np.int8),
        n_laid=np.zeros(n, np.int8),
        pile_start=np.zeros(n, np.int8),
        count=np.zeros(n, np.int8),
        scores=np.zeros((n, 2), np.int16),
        is_dealer=np.zeros(n, np.bool_),
        opponent_cards=np.zeros(n, np.int8),
        game_ids=game_ids,
        decisions=np.zeros(n, np.int16),
    )
    _write_views(games, rows, seats, views.arrays)
    return views


@kernel
def _write_views(games, rows, seats, out):
    for b in range(len(rows)):
        g, seat = games[rows[b]], seats[b]
        write_mask(g, seat, out.action_mask, b)
        list_cards(g["hand"][seat], out.hand[b, : popcount(g["hand"][seat])])
        list_cards(g["discards"][seat], out.discards[b, : popcount(g["discards"][seat])])
        if starter_is_cut(g):
            out.starter[b] = starter(g)
        out.n_laid[b] = g["n_laid"]
        for k in range(g["n_laid"]):
            out.laid[b, k] = g["laid"][k]
            out.laid_by[b, k] = g["laid_by"][k] != seat
        out.pile_start[b] = g["pile_start"]
        out.count[b] = g["count"]
        out.scores[b, 0], out.scores[b, 1] = g["scores"][seat], g["scores"][1 - seat]
        out.is_dealer[b] = g["dealer"] == seat
        out.opponent_cards[b] = popcount(g["hand"][1 - seat])
        out.decisions[b] = g["decisions"]


@kernel
def _write_known(games, views):
    for b in range(len(games)):
        g, laid, laid_by, n_laid = games[b], views.laid[b], views.laid_by[b], views.n_laid[b]
        g["hand"][0], g["discards"][0] = mask_of(views.hand[b]), mask_of(views.discards[b])
        g["hand"][1] = (bit(views.opponent_cards[b]) - 1) << np.int64(52)
        g["laid"][:], g["laid_by"][:], g["n_laid"] = laid, laid_by, n_laid
        g["kept"][0], g["kept"][1] = g["hand"][0], g["hand"][1]
        for k in range(n_laid):
            g["kept"][laid_by[k]] |= bit(laid[k])
            if k >= views.pile_start[b]:
                g["ranks"] |= bit(laid[k] % 13)
        g["phase"], g["episode"] = PLAY, DEAL_EPISODE if views.starter[b] >= 0 else PEGGING_EPISODE
        if views.hand[b, 4] >= 0:
            g["kept"][0] = 0
        if views.hand[b, 4] >= 0 or views.opponent_cards[b] > 4:
            g["phase"], g["episode"], g["kept"][1] = DISCARD, DEAL_EPISODE, 0
        g["cards"][12] = views.starter[b]
        g["pile_start"], g["count"] = views.pile_start[b], views.count[b]
        g["scores"][0], g["scores"][1] = views.scores[b, 0], views.scores[b, 1]
        g["dealer"] = 0 if views.is_dealer[b] else 1
        g["turn"] = 0 if views.action_mask[b].any() else 1


@kernel
def _write_observations(games, out):
    for b in range(len(games)):
        write_observation(games[b], np.int64(0), out, b)
