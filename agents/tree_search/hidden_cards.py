"""Sampling of hidden cards: the opponent's hand and discards, and the starter before it is cut, if there is one.

A search plays on the records of :attr:`crib_env.PlayerViews.games`. :func:`draw_hidden` fills in cards that agree with
all known facts, every go included. Ranks are drawn first, with exact weights, from all hands of ranks that the
opponent may hold, then suits.
"""

from __future__ import annotations

import numpy as np

from crib_env.agents.belief.lookahead import possible_hands, unseen_by
from crib_env.agents.belief.opponent_hands import MOST_HANDS, Hands, posterior
from crib_env.agents.belief.rest_of_deal import DEALT
from crib_env.cards import ACES
from crib_env.engine import DEALER, PEGGING_EPISODE, PONE
from crib_env.kernels import GOLDEN, below, bit, kernel, lowest, mask_of, mix, popcount
from crib_env.players.hidden import DECK, least_value
from crib_env.players.policies import random_card


@kernel
def weigh_hands(g, likely, hands, weights):
    """Every hand that seat 1 may hold, by ranks; before the play, every four that it may keep.

    Args:
        g: a record of :attr:`crib_env.PlayerViews.games`.
        likely: ``keeping`` of :class:`crib_env.agents.belief.rest_of_deal.Habits`, which weighs hands by how likely a
            sensible opponent keeps them and lays what it laid (:mod:`crib_env.agents.belief.opponent_hands`); or
            empty, which makes all sets of cards equally likely.
        hands: (``MOST_HANDS``,) int64, to be filled with packed hands.
        weights: (``MOST_HANDS``,) float64, to be filled with running totals of their weights.

    Returns:
        How many hands there are.
    """
    own, starter, n_laid = g["hand"][0] | g["discards"][0], np.int64(g["cards"][12]), np.int64(g["n_laid"])
    laid, laid_by = g["laid"][:], g["laid_by"][:]  # of the same type as the arrays of other callers
    if len(likely):
        numbers, kinds = np.empty(MOST_HANDS, np.int64), np.empty(MOST_HANDS, np.int64)
        row = DEALT if g["episode"] == PEGGING_EPISODE else DEALER if g["dealer"] == 0 else PONE
        fresh, keeping = n_laid > 0 and g["pile_start"] == n_laid, likely[row]
        found = Hands(hands, weights, numbers, kinds)
        n = posterior(own | g["kept"][0], starter, laid, laid_by, n_laid, fresh, keeping, found)
    else:
        ways = np.empty(MOST_HANDS, np.int64)
        ids = np.full(8, -1, np.int64)
        for k in range(popcount(own)):
            ids[k] = lowest(own)
            own &= own - 1
        unseen = unseen_by(ids, ids[:0], starter, laid)
        least = least_value(laid, laid_by, np.int64(g["pile_start"]), n_laid)
        n = possible_hands(unseen, least, 4 - popcount(g["kept"][1] & DECK), hands, ways)
        for k in range(n):
            weights[k] = ways[k]
    for k in range(1, n):
        weights[k] += weights[k - 1]
    return n


@kernel
def unseen_cards(g):
    """The cards that seat 0 of a record of :attr:`crib_env.PlayerViews.games` has not seen, as a mask."""
    seen = g["hand"][0] | g["discards"][0] | mask_of(g["laid"])
    if g["cards"][12] >= 0:
        seen |= bit(g["cards"][12])
    return DECK ^ seen


@kernel
def draw_hidden(g, unseen, hands, weights, word):
    """Fills in what is hidden: seat 1's hand, its four kept cards, its two discards, and the starter if not cut.

    Args:
        g: a record of :attr:`crib_env.PlayerViews.games`.
        unseen: :func:`unseen_cards` of it.
        hands, weights: (n,) of :func:`weigh_hands`.
        word: the state of the random stream.

    Returns:
        The next state of the stream.
    """
    word += GOLDEN
    at = np.float64(mix(word) >> np.uint64(11)) / 2.0**53 * weights[-1]
    ranks = hands[np.searchsorted(weights, at, side="right")]
    hand = np.int64(0)
    while ranks:
        rank = lowest(ranks) >> 2
        ranks -= np.int64(1) << (4 * rank)
        word += GOLDEN
        hand |= bit(random_card(unseen & ~hand & (ACES << rank), mix(word)))
    g["hand"][1] = hand
    g["kept"][1] = g["kept"][1] & DECK | hand
    if g["episode"] == PEGGING_EPISODE:
        return word
    rest = unseen & ~hand
    discarded = np.int64(0)
    while popcount(discarded) < 2:
        word += GOLDEN
        discarded |= rest & bit(below(mix(word), 52))
    g["discards"][1] = discarded
    rest ^= discarded
    while g["cards"][12] < 0:
        word += GOLDEN
        card = below(mix(word), 52)
        if (rest >> card) & 1:
            g["cards"][12] = card
    return word
