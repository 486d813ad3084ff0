"""Positions that agents are asked for: games set up card by card, many side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np

from crib_env.agents import Agent
from crib_env.batch import GameBatch
from crib_env.engine import GAME, GAME_EPISODE, PEGGING_EPISODE, act, begin_deal, begin_game
from crib_env.evaluate.executors import shared
from crib_env.kernels import kernel, mask_of
from crib_env.players.games import turns

NO_CARD = 52  # where a position has no more cards
_AT_ONCE = 2_048  # positions; the same for any number of threads, as networks round differently in other batches


@kernel
def begin_all(games, cards, dealers, scores, episode):
    """Begins games (N,) with given cards (N, 13), dealers (N,) and scores (N, 2) by seat."""
    for n in range(len(games)):
        g = games[n]
        begin_game(g, episode, np.int64(dealers[n]), np.int64(scores[n, 0]), np.int64(scores[n, 1]), np.int64(-1))
        for k in range(13):
            g["cards"][k] = cards[n, k]
        begin_deal(g)


@kernel
def act_all(games, cards):
    """Plays a card (N,) in each of N games, in place; none where it is ``NO_CARD``."""
    for n in range(len(games)):
        if cards[n] < NO_CARD:
            act(games[n], np.int64(cards[n]))


@kernel
def _unseen(sixes, out):
    """Fills ``out`` (N, 7) with the lowest cards that are not among ``sixes`` (N, 6)."""
    for i in range(len(sixes)):
        held = mask_of(sixes[i])
        n, card = 0, 0
        while n < out.shape[1]:
            if not (held >> card) & 1:
                out[i, n] = card
                n += 1
            card += 1


def cards_of(masks: np.ndarray, n: int) -> np.ndarray:
    """(…, n) int64, the cards of masks (…,) of n cards each, ascending."""
    held = (masks[..., None] >> np.arange(52)) & 1
    return held.nonzero()[-1].reshape(*masks.shape, n)


def before_discards(sixes: np.ndarray, is_dealer: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Games (N,) in which the player in seat 0 is about to discard from cards (N, 6), at scores (N, 2), its own and the
    opponent's. The cards that it does not see are the lowest others."""
    cards = np.empty((len(sixes), 13), np.int64)
    cards[:, :6] = sixes
    _unseen(sixes, cards[:, 6:])
    games = np.zeros(len(sixes), GAME)
    begin_all(games, cards, np.where(is_dealer, 0, 1), scores, GAME_EPISODE)
    for k in range(2):  # pone discards first
        act_all(games, np.where(is_dealer, cards[:, 6 + k], NO_CARD))
    return games


def after_cards(deals: np.ndarray, dealers: np.ndarray, scores: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Games (N,) after cards that were discarded and laid.

    Args:
        deals: (N, 13), six cards for seat 0, six for seat 1, the starter; or (N, 8) four each for the pegging episode.
        dealers: (N,) seats.
        scores: (N, 2) by seat, before the deal.
        cards: (N, C) in the order of play, then ``NO_CARD``.
    """
    is_pegging = deals.shape[1] == 8
    thirteen = deals
    if is_pegging:
        thirteen = np.full((len(deals), 13), -1, np.int64)
        thirteen[:, :4], thirteen[:, 6:10] = deals[:, :4], deals[:, 4:]
    games = np.zeros(len(deals), GAME)
    begin_all(games, thirteen, dealers, scores, PEGGING_EPISODE if is_pegging else GAME_EPISODE)
    for column in cards.T:
        act_all(games, column)
    return games


def batch_of(games: np.ndarray, first_id: int = 0) -> GameBatch:
    """Games (N,) as they stand, copied."""
    batch = GameBatch(np.zeros(len(games), np.uint64), first_id=first_id)
    batch.games[:] = games
    return batch


def chosen_cards(
    agent: Agent,
    games: np.ndarray,
    threads: int,
    on_progress: Callable[[int], None],
    n_cards: int = 1,
    first_id: int = 0,
) -> np.ndarray:
    """What an agent, which may be copied for each thread, discards or lays in games, (N, ``n_cards``).

    Args:
        games: (N,) records; the player to act is asked, and they stay as they are.
        on_progress: called with the number of further positions done.
        n_cards: how many decisions one after the other, of the same player.
        first_id: of the first game; the others follow.

    Raises:
        ValueError: a card is not legal, or the agent cannot be copied.
    """

    def ask(players: Sequence[Agent], start: int, tell: Callable[[int], None]) -> np.ndarray:
        batch, cards = batch_of(games[start : start + _AT_ONCE], first_id=first_id + start), []
        for turn in islice(turns(batch, players), n_cards):
            turn.play()
            cards.append(turn.cards)
        tell(len(batch))
        return np.stack(cards, axis=1).astype(np.int64)

    starts = range(0, len(games), _AT_ONCE)
    with shared([agent], min(threads, len(starts)), on_progress) as each:
        return np.concatenate(list(each(ask, starts)))


def play_after_discards(agent: Agent, batch: GameBatch, seats: np.ndarray, pairs: np.ndarray) -> None:
    """Plays N games from before the first discard to their ends: the players of ``seats`` (N,) discard ``pairs``
    (N, 2), and all else is the agent's choice in both seats."""
    while len(rows := batch.acting()):
        views = batch.views(rows)
        mine = np.flatnonzero(views.is_discard & (batch.games["turn"][rows] == seats[rows]))
        others = np.setdiff1d(np.arange(len(rows)), mine, assume_unique=True)
        cards = np.empty(len(rows), np.int64)
        cards[mine] = pairs[rows[mine], (views.discards[mine, 0] >= 0).astype(int)]
        if len(others):
            cards[others] = agent.act(views[others])
        batch.step(rows, cards)
