"""Positions that agents are asked for: games set up card by card, many side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np

from crib_env.agents import Agent
from crib_env.cards import format_card
from crib_env.engine import GAME, GAME_EPISODE, PEGGING_EPISODE, act, begin_deal, begin_game
from crib_env.evaluate.matches.mirrored import copy_of
from crib_env.kernels import bit, kernel
from crib_env.players.agent_from_text import as_agent
from crib_env.views import PlayerViews, views_of

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
def _act(games, cards):
    for n in range(len(games)):
        if cards[n] < NO_CARD:
            act(games[n], np.int64(cards[n]))


@kernel
def _unseen(six, out):
    """Fills ``out`` (7,) with the lowest cards that are not among ``six``."""
    held = np.int64(0)
    for card in six:
        held |= bit(card)
    n, card = 0, 0
    while n < len(out):
        if not (held >> card) & 1:
            out[n] = card
            n += 1
        card += 1


@kernel
def _unseen_of_all(sixes, out):
    for n in range(len(sixes)):
        _unseen(sixes[n], out[n])


def before_discards(sixes: np.ndarray, is_dealer: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Games (N,) in which the player in seat 0 is about to discard.

    Args:
        sixes: (N, 6) its cards; the opponent's and the starter, which it does not see, are the lowest others.
        is_dealer: (N,) whether it deals.
        scores: (N, 2), its own and the opponent's.
    """
    cards = np.empty((len(sixes), 13), np.int64)
    cards[:, :6] = sixes
    _unseen_of_all(sixes, cards[:, 6:])
    games = np.zeros(len(sixes), GAME)
    begin_all(games, cards, np.where(is_dealer, 0, 1), scores, GAME_EPISODE)
    for k in range(2):  # pone discards first
        _act(games, np.where(is_dealer, cards[:, 6 + k], NO_CARD))
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
        _act(games, column)
    return games


def chosen_cards(
    agent: Agent, games: np.ndarray, threads: int, on_progress: Callable[[int], None], n_cards: int = 1
) -> np.ndarray:
    """What an agent discards or lays in games, (N, ``n_cards``); each has the number of its position as its id.

    Args:
        agent: which may be copied for each thread (:class:`crib_env.players.agent.Agent`).
        games: (N,) records; the player to act is asked, and they stay as they are.
        threads: how many positions' blocks are asked for side by side; they do not change the choices.
        on_progress: called with the number of further positions done.
        n_cards: how many decisions one after the other, of the same player.

    Raises:
        ValueError: a card is not legal, or the agent cannot be copied.
    """
    starts = range(0, len(games), _AT_ONCE)
    threads = min(threads, len(starts)) if as_agent(agent).powers.copyable else 1
    players = SimpleQueue[Agent]()
    for _ in range(threads):
        players.put(agent if threads == 1 else copy_of(agent))

    def ask(start: int) -> np.ndarray:
        player = players.get()
        try:
            part = games[start : start + _AT_ONCE].copy()
            n = len(part)
            cards = np.empty((n, n_cards), np.int64)
            for k in range(n_cards):
                views = views_of(part, np.arange(n), part["turn"].astype(np.int64), np.arange(start, start + n))
                cards[:, k] = _legal(player, views)
                _act(part, cards[:, k])
            on_progress(n)
            return cards
        finally:
            players.put(player)

    if threads == 1:
        return np.concatenate([ask(start) for start in starts])
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(ask, starts)))


def _legal(agent: Agent, views: PlayerViews) -> np.ndarray:
    cards = np.asarray(agent.act(views))
    if cards.shape != (len(views),) or cards.dtype.kind not in "iu":
        raise ValueError(f"agent {agent.name!r} gave {cards.shape} of {cards.dtype}, not ({len(views)},) integers")
    cards = cards.astype(np.int64)
    inside = (cards >= 0) & (cards < NO_CARD)
    legal = inside & (views.action_mask[np.arange(len(views)), np.where(inside, cards, 0)] == 1)
    if not legal.all():
        card = int(cards[np.argmin(legal)])
        named = format_card(card) if 0 <= card < NO_CARD else str(card)
        raise ValueError(f"agent {agent.name!r} in position {views.game_ids[np.argmin(legal)]}: {named} is not legal")
    return cards
