"""What an agent is handed: arrays over a batch of decisions, with nothing in them that its player may not know."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from crib_env.engine import starter, starter_is_cut
from crib_env.kernels import kernel, lowest
from crib_env.observation import N_ACTIONS, SIZES, write_mask, write_observation


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
    """(B, 2) int8, own discards, lowest id first."""
    starter: np.ndarray
    """(B,) int8, once cut."""
    laid: np.ndarray
    """(B, 8) int8, the play of this deal, oldest first."""
    laid_by: np.ndarray
    """(B, 8) int8, who laid it: 0 this player, 1 the opponent."""
    pile_start: np.ndarray
    """(B,) int8, index in ``laid`` of the first card of the present count."""
    count: np.ndarray
    """(B,) int8, 0 to 30."""
    scores: np.ndarray
    """(B, 2) int16, own score and the opponent's."""
    is_dealer: np.ndarray
    """(B,) bool."""
    opponent_cards: np.ndarray
    """(B,) int8, how many cards the opponent holds."""
    game_ids: np.ndarray
    """(B,) int64, one number for each game: the key for memory and for random streams."""
    decisions: np.ndarray
    """(B,) int16, decisions taken in the game before this one, by both players."""

    def __len__(self) -> int:
        return len(self.game_ids)

    def __getitem__(self, rows: np.ndarray | slice) -> PlayerViews:
        """Some of the decisions, by index array, bool array or slice."""
        return PlayerViews(*(getattr(self, field.name)[rows] for field in fields(self)))


def views_of(games: np.ndarray, rows: np.ndarray, seats: np.ndarray, game_ids: np.ndarray) -> PlayerViews:
    """The views of ``games[rows]`` (GAME records) by ``seats`` (B,), all int64 arrays of length B."""
    n = len(rows)
    board = np.zeros((n, SIZES["board"]), np.int8)
    views = PlayerViews(
        observation=board[:, : SIZES["209"]],
        board=board,
        action_mask=np.zeros((n, N_ACTIONS), np.int8),
        hand=np.full((n, 6), -1, np.int8),
        discards=np.full((n, 2), -1, np.int8),
        starter=np.full(n, -1, np.int8),
        laid=np.full((n, 8), -1, np.int8),
        laid_by=np.full((n, 8), -1, np.int8),
        pile_start=np.zeros(n, np.int8),
        count=np.zeros(n, np.int8),
        scores=np.zeros((n, 2), np.int16),
        is_dealer=np.zeros(n, np.bool_),
        opponent_cards=np.zeros(n, np.int8),
        game_ids=game_ids,
        decisions=np.zeros(n, np.int16),
    )
    _write_views(games, rows, seats, *(getattr(views, field.name) for field in fields(views)[1:-2]), views.decisions)
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
def _write_views(
    games,
    rows,
    seats,
    board,
    action_mask,
    hand,
    discards,
    starters,
    laid,
    laid_by,
    pile_start,
    count,
    scores,
    is_dealer,
    opponent_cards,
    decisions,
):
    for b in range(len(rows)):
        g, seat = games[rows[b]], seats[b]
        write_observation(g, seat, board, b)
        write_mask(g, seat, action_mask, b)
        _write_cards(g["hand"][seat], hand[b])
        _write_cards(g["discards"][seat], discards[b])
        if starter_is_cut(g):
            starters[b] = starter(g)
        for k in range(g["n_laid"]):
            laid[b, k] = g["laid"][k]
            laid_by[b, k] = g["laid_by"][k] != seat
        pile_start[b] = g["pile_start"]
        count[b] = g["count"]
        scores[b, 0], scores[b, 1] = g["scores"][seat], g["scores"][1 - seat]
        is_dealer[b] = g["dealer"] == seat
        rest = g["hand"][1 - seat]
        while rest:
            opponent_cards[b] += 1
            rest &= rest - 1
        decisions[b] = g["decisions"]
