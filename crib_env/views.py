"""The input of an agent: arrays over a batch of decisions, without any card hidden from the player."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from crib_env.engine import starter, starter_is_cut
from crib_env.kernels import kernel, lowest
from crib_env.observation import N_ACTIONS, N_BITS, N_BOARD, write_mask, write_observation
from crib_env.ranks import ranks_of


class ViewArrays(NamedTuple):
    """The fields of :class:`PlayerViews` that kernels read: all but the two observations, which repeat the others."""

    # The memory layout of an observation depends on how its views were sliced, and Numba would compile each kernel
    # again for every layout.
    action_mask: np.ndarray
    hand: np.ndarray
    discards: np.ndarray
    starter: np.ndarray
    laid: np.ndarray
    laid_by: np.ndarray
    n_laid: np.ndarray
    pile_start: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # it hides `tuple.count`, which nobody needs
    scores: np.ndarray
    is_dealer: np.ndarray
    opponent_cards: np.ndarray
    game_ids: np.ndarray
    decisions: np.ndarray


_KERNEL_FIELDS = attrgetter(*ViewArrays._fields)


@dataclass(frozen=True)
class PlayerViews:
    """B decisions, each seen by the player who makes it; ``len(views) == B``.

    Cards are ids, -1 where there is none. Scores and seats are from the player's side: own first.
    """

    observation: np.ndarray
    """(B, 209) int8, see :mod:`crib_env.observation`."""
    board: np.ndarray
    """(B, 659) int8, the board observation: ``observation`` is its first part."""
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
    def arrays(self) -> ViewArrays:
        """The same arrays as one argument for a Numba kernel, without the observations."""
        return ViewArrays(*_KERNEL_FIELDS(self))

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

    @property
    def ranks(self) -> np.ndarray:
        """(B, 479) int8, the inputs by rank, see :mod:`crib_env.observation`."""
        return self.ranks_and_gains[0]

    @cached_property
    def ranks_and_gains(self) -> tuple[np.ndarray, np.ndarray]:
        """The inputs by rank, and the gains (B, 52) float32, see :mod:`crib_env.ranks`."""
        return ranks_of(self.arrays, self.is_discard)

    def __getitem__(self, rows: np.ndarray | slice) -> PlayerViews:
        """Some of the decisions, by index array, bool array or slice."""
        return PlayerViews(*(getattr(self, field.name)[rows] for field in fields(self)))


def views_of(games: np.ndarray, rows: np.ndarray, seats: np.ndarray, game_ids: np.ndarray) -> PlayerViews:
    """The views of ``games[rows]`` (GAME records) by ``seats`` (B,), all int64 arrays of length B."""
    n = len(rows)
    board = np.zeros((n, N_BOARD), np.int8)
    views = PlayerViews(
        observation=board[:, :N_BITS],
        board=board,
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
    _write_views(games, rows, seats, board, views.arrays)
    return views


@kernel
def _write_cards(cards, out):
    """The cards of a mask into a row, lowest id first."""
    k = 0
    while cards:
        out[k] = lowest(cards)
        cards &= cards - 1
        k += 1
    return k


@kernel
def _write_views(games, rows, seats, board, out):
    for b in range(len(rows)):
        g, seat = games[rows[b]], seats[b]
        write_observation(g, seat, board, b)
        write_mask(g, seat, out.action_mask, b)
        _write_cards(g["hand"][seat], out.hand[b])
        _write_cards(g["discards"][seat], out.discards[b])
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
        rest = g["hand"][1 - seat]
        while rest:
            out.opponent_cards[b] += 1
            rest &= rest - 1
        out.decisions[b] = g["decisions"]
