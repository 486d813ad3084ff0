"""The engine's kernels over arrays of games, for tests that drive them from Python.

These wrappers are compiled again in every run. A cached wrapper would keep using the engine as it was when it was
cached, because Numba's cache does not see an edit in an imported file.
"""

from __future__ import annotations

import numba

from crib_env import engine

compiled = numba.njit(error_model="numpy")


@compiled
def begin(games, episode, first_dealer, score_0, score_1, start_spread):
    for i in range(len(games)):
        engine.begin_game(games[i], episode, first_dealer[i], score_0[i], score_1[i], start_spread)


@compiled
def shuffle(games):
    for i in range(len(games)):
        engine.shuffle(games[i])


@compiled
def deal(games, rows):
    """Deals ``games["cards"]``."""
    for i in rows:
        engine.begin_deal(games[i])


@compiled
def act(games, rows, cards):
    for b in range(len(rows)):
        engine.act(games[rows[b]], cards[b])


@compiled
def legal(games, rows, masks):
    for b in range(len(rows)):
        masks[b] = engine.legal_cards(games[rows[b]])
