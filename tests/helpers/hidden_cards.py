"""Random games, and the same games with other hidden cards."""

from __future__ import annotations

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import EPISODES, PEGGING_EPISODE, PLAY
from crib_env.kernels import streams
from crib_env.players.policies import RANDOM
from crib_env.views import views_of

N_GAMES = 300


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


def deal_hidden_again(game, seat, rng):
    """Gives the opponent other cards in hand and in the crib, cuts another starter, and changes the cards to come.

    Conclusions from a go about the opponent's hand are ignored, which makes the test stricter.
    """
    other = 1 - seat
    laid = game["laid"][: game["n_laid"]].tolist()
    laid_by_other = [card for card, by in zip(laid, game["laid_by"]) if by == other]
    known = {*cards_of(game["hand"][seat]), *cards_of(game["discards"][seat]), *laid}
    is_pegging = game["episode"] == PEGGING_EPISODE
    is_cut = game["phase"] == PLAY and not is_pegging
    if is_cut:
        known.add(int(game["cards"][12]))
    unseen = rng.permutation([card for card in range(52) if card not in known])

    n_hand, n_discarded = len(cards_of(game["hand"][other])), len(cards_of(game["discards"][other]))
    hand, discarded, uncut = unseen[:n_hand], unseen[n_hand : n_hand + n_discarded], unseen[n_hand + n_discarded]
    game["hand"][other], game["discards"][other] = mask_of(hand), mask_of(discarded)
    if game["kept"][other]:
        game["kept"][other] = mask_of([*hand, *laid_by_other])
    theirs = [*laid_by_other, *hand, *discarded]
    game["cards"][6 * other : 6 * other + len(theirs)] = theirs
    if not is_cut and not is_pegging:
        game["cards"][12] = uncut
    game["deal_stream"], game["episode_stream"] = rng.integers(2**63, size=2)


def with_hidden_dealt_again(games, rows, seats, rng):
    games = games.copy()
    for row, seat in zip(rows, seats):
        deal_hidden_again(games[row], int(seat), rng)
    return games


def views(games, rows, seats):
    return views_of(games, rows, seats.astype(np.int64), rows)
