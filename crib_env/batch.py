"""Many games at once, both seats in the caller's hands: what matches and learners play on."""

from __future__ import annotations

import numpy as np

from crib_env.cards import format_card
from crib_env.engine import (
    CRIB,
    DEAL,
    DEALERS_HAND,
    EPISODES,
    GAME,
    HEELS,
    OVER,
    PLAY,
    PONES_HAND,
    act,
    begin_deal,
    begin_game,
    legal_cards,
    shuffle,
)
from crib_env.kernels import bit, kernel, lowest
from crib_env.observation import N_ACTIONS, SIZES, write_mask, write_observation
from crib_env.options import Start
from crib_env.policies import native_card
from crib_env.views import PlayerViews, views_of

# Where points come from, the last axis of a tally.
SOURCES = ("play", "heels", "hand", "crib")
_PLAY_SOURCE, _HEELS_SOURCE, _HAND_SOURCE, _CRIB_SOURCE = range(4)


@kernel
def _source(kind):
    """Where points for a kind of event come from."""
    if kind == HEELS:
        return _HEELS_SOURCE
    if kind in (PONES_HAND, DEALERS_HAND):
        return _HAND_SOURCE
    return _CRIB_SOURCE if kind == CRIB else _PLAY_SOURCE


@kernel
def _is_forced(g):
    """In the play: whether all legal cards share a rank, so that nothing is decided."""
    legal = legal_cards(g)
    rank = lowest(legal) % 13
    same = np.int64(0)
    for suit in range(4):
        same |= bit(13 * suit + rank)
    return legal & ~same == 0


@kernel
def _go_on(games, rows, tally, skip_forced):
    """Tallies what has just been pegged, deals where a deal is due, and lays forced cards if they are skipped."""
    for i in rows:
        g = games[i]
        while True:
            for k in range(g["n_events"]):
                seat = g["event_player"][k]
                is_dealer = 1 if seat == g["dealer"] else 0
                tally[i, seat, is_dealer, _source(g["event_kind"][k])] += g["event_points"][k]
            if g["phase"] == DEAL:
                shuffle(g)
                begin_deal(g)
            if not skip_forced or g["phase"] != PLAY or not _is_forced(g):
                break
            act(g, lowest(legal_cards(g)))


@kernel
def _begin_all(games, rows, tally, skip_forced, episode, start_spread, first_dealer, score_0, score_1):
    for i in rows:
        begin_game(games[i], episode, first_dealer, score_0, score_1, start_spread)
    _go_on(games, rows, tally, skip_forced)


@kernel
def _first_illegal(games, rows, cards):
    """The index of the first card that may not be thrown or laid, or -1."""
    for b in range(len(rows)):
        if not 0 <= cards[b] < 52 or not (legal_cards(games[rows[b]]) >> cards[b]) & 1:
            return b
    return -1


@kernel
def _step_all(games, rows, cards, tally, skip_forced):
    for b in range(len(rows)):
        act(games[rows[b]], cards[b])
    _go_on(games, rows, tally, skip_forced)


@kernel
def _observe_all(games, rows, out, masks):
    for b in range(len(rows)):
        g = games[rows[b]]
        write_observation(g, g["turn"], out, b)
        write_mask(g, g["turn"], masks, b)


@kernel
def _native_cards(games, rows, policy, cards):
    for b in range(len(rows)):
        cards[b] = native_card(games[rows[b]], policy)


class GameBatch:
    """``n`` games that run side by side, each to its own end.

    Args:
        seeds: (n,) uint64, one random stream a game (:func:`crib_env.kernels.streams`); equal numbers give equal deals.
        episode: ``"game"``, ``"deal"`` or ``"play"``.
        start_spread: random starting scores at most this far apart; ``None`` is 0–0.
        first_dealer: 0 or 1, the seat that deals first; ``None`` is a fair coin for each game.
        scores: starting scores of both seats, 0 to 120, in place of random ones.
        skip_forced: lay a card at once when all legal cards share a rank, so that ``acting`` shows real choices only.
        first_id: the game id of the first game; the others follow.

    Attributes:
        games: (n,) records of dtype :data:`crib_env.engine.GAME`.
        tally: (n, 2, 2, 4) int32, points by seat, by 0 pone or 1 dealer, and by ``SOURCES``.

    Raises:
        ValueError: ``first_dealer`` or ``scores`` are not allowed; the message names it.
    """

    def __init__(
        self,
        seeds: np.ndarray,
        *,
        episode: str = "game",
        start_spread: int | None = None,
        first_dealer: int | None = None,
        scores: tuple[int, int] | None = None,
        skip_forced: bool = False,
        first_id: int = 0,
    ) -> None:
        self.games = np.zeros(len(seeds), GAME)
        self.games["episodes"] = seeds
        self.tally = np.zeros((len(seeds), 2, 2, len(SOURCES)), np.int32)
        self.game_ids = np.arange(first_id, first_id + len(seeds), dtype=np.int64)
        self._skip_forced = skip_forced
        spread = -1 if start_spread is None else start_spread
        start = Start.read({"first_dealer": first_dealer, "scores": scores})
        rules = EPISODES.index(episode), spread, start.first_dealer, *start.scores
        _begin_all(self.games, np.arange(len(seeds)), self.tally, skip_forced, *rules)

    def __len__(self) -> int:
        return len(self.games)

    def acting(self) -> np.ndarray:
        """Rows of the games that are not over, (B,) int64."""
        return np.flatnonzero(self.games["phase"] != OVER)

    def views(self, rows: np.ndarray) -> PlayerViews:
        """What the players to act in these games see."""
        return views_of(self.games, rows, self.games["turn"][rows].astype(np.int64), self.game_ids[rows])

    def observe(self, rows: np.ndarray, observation: str = "209") -> tuple[np.ndarray, np.ndarray]:
        """Observations (B, 209 or 659) and masks (B, 52), int8, of the players to act: all that a network asks for."""
        out = np.zeros((len(rows), SIZES[observation]), np.int8)
        masks = np.zeros((len(rows), N_ACTIONS), np.int8)
        _observe_all(self.games, rows, out, masks)
        return out, masks

    def native_cards(self, rows: np.ndarray, policy: int) -> np.ndarray:
        """The cards (B,) that a native policy (index in ``crib_env.policies.NATIVE``) chooses in these games."""
        cards = np.empty(len(rows), np.int64)
        _native_cards(self.games, rows, policy, cards)
        return cards

    def step(self, rows: np.ndarray, cards: np.ndarray) -> None:
        """One decision in each of these games.

        Raises:
            ValueError: a card is not legal; the message names game and card, and no game has changed.
        """
        cards = np.asarray(cards)
        if cards.shape != rows.shape or cards.dtype.kind not in "iu":
            raise ValueError(f"cards must be {rows.shape} integers, not {cards.shape} of {cards.dtype}")
        cards = cards.astype(np.int64)
        bad = _first_illegal(self.games, rows, cards)
        if bad >= 0:
            card = int(cards[bad])
            name = format_card(card) if 0 <= card < 52 else str(card)
            raise ValueError(f"game {self.game_ids[rows[bad]]}: {name} is not legal")
        _step_all(self.games, rows, cards, self.tally, self._skip_forced)
