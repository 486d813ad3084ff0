"""Random games, and the same games with other hidden cards."""

from __future__ import annotations

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import EPISODES
from crib_env.kernels import streams
from crib_env.players.hidden import deal_hidden
from crib_env.players.policies import RANDOM
from crib_env.views import views_of

N_GAMES = 200


def batches():
    """Random games in all four kinds of episode, caught after 0, 1, 2, … decisions and so in every phase of a deal."""
    for episode in EPISODES:
        batch = GameBatch(streams(17, N_GAMES), episode=episode)
        for _ in range(30):
            rows = batch.acting()
            if not len(rows):
                break
            yield batch, rows
            batch.step(rows, batch.native_cards(rows, RANDOM))


def cards_of(mask):
    return [card for card in range(52) if int(mask) >> card & 1]


def mask_of(cards):
    return sum(1 << int(card) for card in cards)


def with_hidden_dealt_again(games, rows, seats, rng):
    games = games.copy()
    for row, seat in zip(rows, seats):
        deal_hidden(games[row], int(seat), False, rng.integers(2**63))
    return games


def views(games, rows, seats):
    return views_of(games, rows, seats.astype(np.int64), rows)
