"""Many games at once, with both seats controlled by the caller. Matches and learners run on it.

The reward of a decision is the difference of a standing (:func:`standings`). Without luck the show counts as what the
six cards of a player are worth in it, so a reward does not depend on the cards that happen to fall.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from crib_env.cards import format_card, format_cards
from crib_env.engine import (
    CRIB,
    DEAL,
    DEALER,
    DEALERS_HAND,
    EPISODES,
    GAME,
    HEELS,
    OVER,
    PEGGING_EPISODE,
    PLAY,
    PONE,
    PONES_HAND,
    ROLES,
    act,
    begin_deal,
    begin_game,
    is_legal,
    legal_cards,
    shuffle,
)
from crib_env.exact.discard_means import COMPLETIONS, best_discard_and_total
from crib_env.hands import ranks_in
from crib_env.kernels import kernel, lowest
from crib_env.observation import N_ACTIONS, observation_named, write_mask, write_observation, writing
from crib_env.options import Options, Start, check_options
from crib_env.players.policies import NATIVE, native_card
from crib_env.ranks import ranks_and_gains_of
from crib_env.values import is_integer
from crib_env.views import PlayerViews, views_of

# The sources of points: the last axis of a tally.
SOURCES = ("play", "heels", "hand", "crib")
_INT64 = np.dtype(np.int64)  # NumPy has one object for this type, so `is` compares it
_PLAY_SOURCE, _HEELS_SOURCE, _HAND_SOURCE, _CRIB_SOURCE = range(4)


@kernel
def _source(kind):
    """The source of points for a kind of event."""
    if kind == HEELS:
        return _HEELS_SOURCE
    if kind in (PONES_HAND, DEALERS_HAND):
        return _HAND_SOURCE
    return _CRIB_SOURCE if kind == CRIB else _PLAY_SOURCE


@kernel
def _is_forced(g):
    """Whether the seat to act has no choice: in the play, when all legal cards have the same rank."""
    ranks = ranks_in(legal_cards(g))
    return ranks & (ranks - 1) == 0


@kernel
def go_on(games, rows, tally, skip_forced):
    """Adds new points to the tally, deals if a deal is due, and lays forced cards if they are skipped."""
    for i in rows:
        g = games[i]
        while True:
            for k in range(g["n_events"]):
                seat = g["event_player"][k]
                role = DEALER if seat == g["dealer"] else PONE
                tally[i, seat, role, _source(g["event_kind"][k])] += g["event_points"][k]
            if g["phase"] == DEAL:
                shuffle(g)
                begin_deal(g)
            if not skip_forced or g["phase"] != PLAY or not _is_forced(g):
                break
            act(g, lowest(legal_cards(g)))


@kernel
def begin_all(games, rows, tally, skip_forced, start):
    """Begins games with the arguments ``start`` of :func:`crib_env.engine.begin_game`."""
    for i in rows:
        begin_game(games[i], *start)
    go_on(games, rows, tally, skip_forced)


@kernel
def _first_bad_row(rows, n):
    """The index of the first row that is out of range or repeated; -1 if there is none."""
    previous, ascending = np.int64(-1), True
    for row in rows:
        ascending &= previous < row
        previous = row
    if ascending and previous < n:  # the rows of `acting` are ascending: a quick check
        return -1
    seen = np.zeros(n, np.bool_)
    for b in range(len(rows)):
        if not 0 <= rows[b] < n or seen[rows[b]]:
            return b
        seen[rows[b]] = True
    return -1


@kernel
def _first_illegal(games, rows, cards):
    """The index of the first card that is not legal; -1 if there is none."""
    for b in range(len(rows)):
        if not is_legal(games[rows[b]], cards[b]):
            return b
    return -1


@kernel
def _step_all(games, rows, cards, tally, skip_forced):
    for b in range(len(rows)):
        act(games[rows[b]], cards[b])
    go_on(games, rows, tally, skip_forced)


@kernel
def _observe_all(games, rows, out, masks):
    """Writes the observations of the players to act."""
    for b in range(len(rows)):
        g = games[rows[b]]
        seat = np.int64(g["turn"])
        write_observation(g, seat, out, b)
        write_mask(g, seat, masks, b)


@kernel
def _native_cards(games, rows, policy, cards):
    """Fills ``cards`` with the choices of a native policy; the index of the first finished game, or -1."""
    for b in range(len(rows)):
        g = games[rows[b]]
        if g["phase"] == OVER:
            return b
        cards[b] = native_card(g, policy)
    return -1


class GameBatch:
    """``n`` games that run side by side, each to its own end.

    Threads may share a batch: a call waits until another thread's is through.

    Methods take ``rows``: (B,) integers from 0 to n - 1, in any order, each at most once. Others raise ``ValueError``.

    Args:
        seeds: (n,) uint64, one random stream per game (:func:`crib_env.kernels.streams`); equal seeds give equal deals.
        episode: ``"game"``, ``"deal"``, ``"play"`` or ``"pegging"`` (:mod:`crib_env.aec`).
        cards: 2, 3 or 4, the cards of each player in ``"pegging"``.
        start_spread: random starting scores at most this far apart; ``None`` starts every game at 0–0.
        first_dealer: 0 or 1, the seat that deals first; ``None`` draws it for each game by a fair coin.
        scores: starting scores of both seats, 0 to 120, in place of random ones.
        skip_forced: lay a card at once when all legal cards share a rank, so that ``acting`` shows real choices only.
        first_id: the game id of the first game; the others follow.

    Attributes:
        games: (n,) records of dtype :data:`crib_env.engine.GAME`.
        tally: (n, 2, 2, 4) int32, points by seat, by role (``ROLES``) and by ``SOURCES``.

    Raises:
        ValueError: an argument is not allowed; the message names it.
    """

    def __init__(
        self,
        seeds: np.ndarray,
        *,
        episode: str = "game",
        cards: int = 4,
        start_spread: int | None = None,
        first_dealer: int | None = None,
        scores: tuple[int, int] | None = None,
        skip_forced: bool = False,
        first_id: int = 0,
    ) -> None:
        seeds = np.asarray(seeds)
        if seeds.ndim != 1 or seeds.dtype.kind not in "iu" or (seeds.dtype.kind == "i" and (seeds < 0).any()):
            raise ValueError(
                f"seeds must be (n,) uint64, not {seeds.shape} of {seeds.dtype} (crib_env.streams makes them)"
            )
        Options(episode=episode, cards=cards, start_spread=start_spread)  # raises what is not allowed
        check_options({"skip_forced": skip_forced, "first_id": first_id})
        start = Start.read({"first_dealer": first_dealer, "scores": scores}, episode)
        self.games = np.zeros(len(seeds), GAME)
        self.games["episode_stream"], self.games["fewer"] = seeds, 4 - cards
        self.tally = np.zeros((len(seeds), 2, len(ROLES), len(SOURCES)), np.int32)
        self.game_ids = np.arange(first_id, first_id + len(seeds), dtype=np.int64)
        self._skip_forced = bool(skip_forced)
        # Kernels run without the interpreter's lock. Two in the same games could leave impossible hands, and then
        # write out of bounds.
        self._lock = threading.Lock()
        spread = -1 if start_spread is None else int(start_spread)
        begins = EPISODES.index(episode), start.first_dealer, *start.scores, spread
        begin_all(self.games, np.arange(len(seeds)), self.tally, self._skip_forced, begins)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}  # it cannot be copied or pickled

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.games)

    def _checked(self, rows: np.ndarray) -> np.ndarray:
        """The rows as (B,) int64."""
        found = np.asarray(rows)
        if found.dtype is not _INT64 or found.ndim != 1 or not found.flags.c_contiguous:
            if found.ndim != 1 or found.dtype.kind not in "iu":
                raise ValueError(f"rows must be (B,) integers, not {found.shape} of {found.dtype}")
            found = np.ascontiguousarray(found, np.int64)
        bad = _first_bad_row(found, len(self))
        if bad >= 0:
            fault = f"there are games 0 to {len(self) - 1}" if not 0 <= found[bad] < len(self) else "it is given twice"
            raise ValueError(f"rows[{bad}]={found[bad]} is not allowed: {fault}")
        return found

    def acting(self) -> np.ndarray:
        """Rows of the games that are not over, (B,) int64."""
        return np.flatnonzero(self.games["phase"] != OVER)

    def views(self, rows: np.ndarray) -> PlayerViews:
        """The views of the players to act in these games."""
        rows = self._checked(rows)
        with self._lock:
            return views_of(self.games, rows, self.games["turn"][rows].astype(np.int64), self.game_ids[rows])

    def observe(self, rows: np.ndarray, observation: str = "209") -> tuple[np.ndarray, np.ndarray]:
        """Observations (B, size) and masks (B, 52), int8, of the players to act.

        ``observation`` is a name of :data:`crib_env.observation.OBSERVATIONS`, or it raises ``ValueError``.
        """
        rows, seen = self._checked(rows), observation_named(observation)
        out = np.zeros((len(rows), seen.size), np.int8)
        masks = np.zeros((len(rows), N_ACTIONS), np.int8)
        with self._lock:
            writing(_observe_all, seen.write)(self.games, rows, out, masks)
        return out, masks

    def ranks_and_gains(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Inputs by rank (B, 479) int8 of the players to act, and gains (B, 52) float32, -inf for a card that is not
        legal (:mod:`crib_env.ranks`)."""
        rows = self._checked(rows)
        with self._lock:
            return ranks_and_gains_of(self.games, rows, self.games["turn"][rows].astype(np.int64))

    def native_cards(self, rows: np.ndarray, policy: int) -> np.ndarray:
        """The cards (B,) that a native policy (index in ``crib_env.players.policies.NATIVE``) chooses in these games.

        Another policy and games that are over raise ``ValueError``.
        """
        rows = self._checked(rows)
        if not is_integer(policy) or not 0 <= policy < len(NATIVE):
            names = ", ".join(f"{index} ({name})" for index, name in enumerate(NATIVE))
            raise ValueError(f"policy={policy!r} is not allowed: give {names}")
        cards = np.empty(len(rows), np.int64)
        with self._lock:
            bad = _native_cards(self.games, rows, int(policy), cards)
        if bad >= 0:
            raise ValueError(f"game {self.game_ids[rows[bad]]} is over")
        return cards

    def step(self, rows: np.ndarray, cards: np.ndarray) -> None:
        """Plays one decision in each of these games. If a card is not legal, ``ValueError`` names game and card, and no
        game has changed."""
        rows = self._checked(rows)
        with self._lock:
            cards = checked_cards(self.games, rows, cards, self.game_ids)
            _step_all(self.games, rows, cards, self.tally, self._skip_forced)


def checked_cards(games: np.ndarray, rows: np.ndarray, cards: np.ndarray, ids: np.ndarray | None = None) -> np.ndarray:
    """The cards chosen in ``games[rows]``, checked, (B,) int64; ``ids`` (n,) are the games in messages.

    If they are not B legal cards, ``ValueError`` names game and card, and what is legal.
    """
    cards = np.asarray(cards)
    if cards.shape != rows.shape or cards.dtype.kind not in "iu":
        raise ValueError(f"{len(rows)} games: cards must be {rows.shape} integers, not {cards.shape} of {cards.dtype}")
    cards = cards.astype(np.int64)
    bad = _first_illegal(games, rows, cards)
    if bad >= 0:
        row, card = rows[bad], int(cards[bad])
        name = format_card(card) if 0 <= card < N_ACTIONS else str(card)
        seat = games["turn"][[row]].astype(np.int64)
        legal = views_of(games, rows[[bad]], seat, rows[[bad]]).action_mask[0].nonzero()[0]
        game = row if ids is None else ids[row]
        raise ValueError(f"game {game}: {name} is not legal: it may be one of {format_cards(legal) or 'none'}")
    return cards


@kernel
def worth_in_the_show(g, seat):
    """See :func:`discards_worth`."""
    if g["episode"] == PEGGING_EPISODE:
        return 0.0
    kept = g["kept"][seat] if g["kept"][seat] else g["hand"][seat]
    discarded = g["discards"][seat]
    crib_sign = 1 if seat == g["dealer"] else -1
    return best_discard_and_total(kept | discarded, discarded, crib_sign)[1] / COMPLETIONS


@kernel
def standing(games, i, tally, seat):
    """How a seat stands in game i, minus the other: in points, and without luck; see :func:`standings`."""
    g, points, pegged = games[i], 0.0, 0.0
    for side in range(2):
        sign = 1.0 if side == seat else -1.0
        points += sign * (np.float64(g["scores"][side]) - np.float64(g["start_scores"][side]))
        for role in range(2):
            pegged += sign * tally[i, side, role, _PLAY_SOURCE]
    return points, pegged + worth_in_the_show(g, seat)


@kernel
def _discards_worth(games, rows, seats, out):
    for b in range(len(rows)):
        out[b] = worth_in_the_show(games[rows[b]], seats[b])


@kernel
def _standings(games, rows, seats, tally, points, settled):
    for b in range(len(rows)):
        points[b], settled[b] = standing(games, rows[b], tally, seats[b])


def discards_worth(games: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Value of the six cards of ``seats`` in games ``rows`` in the show, (B,) float64.

    The exact means of the hand kept, plus or minus the crib, after the best discard that includes the cards discarded
    so far; the opponent's discards are assumed random, as ``greedy`` does. It is 0 in the pegging episode.
    """
    out = np.empty(len(rows))
    _discards_worth(games, rows, seats, out)
    return out


def standings(batch: GameBatch, rows: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How ``seats`` stand in games ``rows``, minus their opponents, each (B,) float64.

    First in points made since the start; then without luck: in points of the play, plus the value of the six cards in
    the show (:func:`discards_worth`).
    """
    points, settled = np.empty(len(rows)), np.empty(len(rows))
    _standings(batch.games, rows, np.asarray(seats, np.int64), batch.tally, points, settled)
    return points, settled
