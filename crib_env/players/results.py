"""What a player learns after a deal and after a game: only what both players have seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crib_env.engine import CRIB, DEALERS_HAND, PLAY, PONES_HAND, WIN, act
from crib_env.kernels import kernel


@dataclass(frozen=True)
class DealResults:
    """N finished deals, each seen by one player. Cards are ids; scores and seats are from the player's side.

    A game ends at once at 121: cards not shown by then are missing here.
    """

    hand: np.ndarray
    """(N, 4) int8, the four cards that the player kept, lowest id first."""
    discards: np.ndarray
    """(N, 2) int8, the player's own, lowest id first."""
    opponent_hand: np.ndarray
    """(N, 4) int8, the four cards that the opponent kept, lowest id first; -1 if they were not shown."""
    crib: np.ndarray
    """(N, 4) int8, lowest id first; -1 if it was not shown."""
    starter: np.ndarray
    """(N,) int8; -1 in the pegging episode, which has none and no discards."""
    laid: np.ndarray
    """(N, 8) int8, the play, oldest card first; -1 where the game was over before."""
    laid_by: np.ndarray
    """(N, 8) int8, who laid it: 0 this player, 1 the opponent; -1 where nothing is laid."""
    is_dealer: np.ndarray
    """(N,) bool."""
    scores: np.ndarray
    """(N, 2) int16 after the deal, the player's own first."""
    game_ids: np.ndarray
    """(N,) int64, as in :class:`crib_env.PlayerViews`."""

    def __len__(self) -> int:
        return len(self.game_ids)


@dataclass(frozen=True)
class GameResults:
    """N finished games, each seen by one player."""

    won: np.ndarray
    """(N,) bool."""
    scores: np.ndarray
    """(N, 2) int16, the player's own first."""
    game_ids: np.ndarray
    """(N,) int64, as in :class:`crib_env.PlayerViews`."""

    def __len__(self) -> int:
        return len(self.game_ids)


@kernel
def _act_all(games, cards):
    for k in range(len(cards)):
        act(games[k], cards[k])


def ended_deals(games: np.ndarray, cards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Finds the decisions that end a deal, and plays them up to the end of the show.

    Args:
        games: (B,) GAME records before the decisions; they are written to.
        cards: (B,) legal cards that are discarded or laid.

    Returns:
        Rows (N,) of ``games``, and these N records after the show, before the next deal.
    """
    _act_all(games, np.asarray(cards, np.int64))
    ended = np.flatnonzero(games["phase"] > PLAY)
    return ended, games[ended]


def deal_results(games: np.ndarray, seats: np.ndarray, game_ids: np.ndarray) -> DealResults:
    """The results that ``seats`` (N,) receive of deals that just ended, ``games`` (N,) as :func:`ended_deals` gives
    them."""
    rows, others = np.arange(len(games)), 1 - seats
    shown = np.arange(games["event_kind"].shape[1]) < games["n_events"][:, None]

    def is_shown(kind: np.signedinteger[Any]) -> np.ndarray:
        return ((games["event_kind"] == kind) & shown).any(axis=1)

    is_dealer = games["dealer"] == seats
    opponent_shows = np.where(is_dealer, is_shown(PONES_HAND), is_shown(DEALERS_HAND))
    laid_by = games["laid_by"]
    return DealResults(
        hand=_cards(games["kept"][rows, seats], 4),
        discards=_cards(games["discards"][rows, seats], 2),
        opponent_hand=_cards(np.where(opponent_shows, games["kept"][rows, others], 0), 4),
        crib=_cards(np.where(is_shown(CRIB), games["discards"].sum(axis=1), 0), 4),
        starter=games["cards"][:, 12].copy(),
        laid=games["laid"].copy(),
        laid_by=np.where(laid_by < 0, -1, laid_by != seats[:, None]).astype(np.int8),
        is_dealer=is_dealer,
        scores=_scores(games, seats),
        game_ids=game_ids,
    )


def game_results(games: np.ndarray, seats: np.ndarray, game_ids: np.ndarray) -> GameResults:
    """The results that ``seats`` (N,) receive of finished games, ``games`` (N,) GAME records."""
    scores = _scores(games, seats)
    return GameResults(won=scores[:, 0] >= WIN, scores=scores, game_ids=game_ids)


def _scores(games: np.ndarray, seats: np.ndarray) -> np.ndarray:
    return games["scores"][np.arange(len(games))[:, None], np.stack([seats, 1 - seats], axis=1)]


def _cards(masks: np.ndarray, n: int) -> np.ndarray:
    """(N, n) int8, the cards of masks (N,) that hold so many or none, lowest id first."""
    held = (masks[:, None] >> np.arange(52)) & 1
    cards = np.argsort(-held, axis=1, kind="stable")[:, :n].astype(np.int8)
    cards[masks == 0] = -1
    return cards
