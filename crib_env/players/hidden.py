"""What a player cannot know of a game, dealt again: for searches, and for checks that nothing hidden is shown."""

from __future__ import annotations

import numpy as np

from crib_env.engine import FITS, random_word, starter, starter_is_cut
from crib_env.kernels import below, bit, kernel, lowest, mask_of, mix, popcount
from crib_env.scoring import COUNT_LIMIT, card_value

DECK = np.int64((1 << 52) - 1)


@kernel
def least_value(laid, laid_by, pile_start, n_laid):
    """The lowest value that a card of the opponent can still have, for a player who is to lay.

    Whenever it was the opponent's turn and it said go, all its cards were too high for the count. Arguments are one row
    of :class:`crib_env.PlayerViews`.
    """
    count, least = np.int64(0), np.int64(1)
    for k in range(n_laid):
        value = card_value(laid[k] % 13)
        if count + value > COUNT_LIMIT:  # a new count: nobody could continue the last one
            least = max(least, COUNT_LIMIT + 1 - count)
            count = np.int64(0)
        elif k > 0 and laid_by[k - 1] == 0 and laid_by[k] == 0:
            least = max(least, COUNT_LIMIT + 1 - count)
        count += value
    if n_laid > 0 and (pile_start == n_laid or laid_by[n_laid - 1] == 0):
        least = max(least, COUNT_LIMIT + 1 - count)
    return least


@kernel
def _draw(g, cards, n):
    """``n`` cards of a mask, as a mask, by the stream of the game's deals."""
    drawn = cards & np.int64(0)
    while popcount(drawn) < n:
        drawn |= cards & bit(below(random_word(g), 52))
    return drawn


@kernel
def deal_hidden(g, seat, heeds_play, seed):
    """Changes what ``seat`` does not see: the other player's cards and discards, the uncut starter, all later deals.

    With ``heeds_play`` the hand agrees with every go and with the turn, and all cards that agree with what the seat has
    seen are equally likely. The same seed, an int64, deals the same cards.
    """
    other, n, laid = 1 - seat, np.int64(g["n_laid"]), np.int64(0)
    laid_by = np.zeros(8, np.int64)
    for k in range(n):
        if g["laid_by"][k] == other:
            laid_by[k] = 1
            laid |= bit(g["laid"][k])
    hidden = DECK & ~(g["hand"][seat] | g["discards"][seat] | mask_of(g["laid"]))
    is_cut = starter_is_cut(g)
    if is_cut:
        hidden &= ~bit(starter(g))

    allowed, fitting = hidden, hidden
    if heeds_play:
        if g["turn"] == other:
            fitting = FITS[min(COUNT_LIMIT - g["count"], 10)]
            if g["pile_start"] < n and laid_by[n - 1] == 0:
                n -= 1  # the other player is to answer the last card, and has not said go
        allowed &= ~FITS[min(least_value(g["laid"], laid_by, np.int64(g["pile_start"]), n) - 1, 10)]
    n_hand, n_discards = popcount(g["hand"][other]), popcount(g["discards"][other])
    if popcount(allowed) < n_hand or not allowed & fitting:  # of records made by hand alone, and games that are over
        allowed, fitting = hidden, hidden
    g["deal_stream"] = mix(np.uint64(seed))
    hand = _draw(g, allowed, n_hand)
    while not hand & fitting and n_hand:
        hand = _draw(g, allowed, n_hand)
    g["hand"][other] = hand
    hidden ^= hand
    discards = _draw(g, hidden, n_discards)
    g["discards"][other] = discards
    if g["kept"][other]:
        g["kept"][other] = hand | laid
    if starter(g) >= 0 and not is_cut:
        g["cards"][12] = lowest(_draw(g, hidden ^ discards, 1))
    k = 6 * other
    for cards in (hand | laid, discards):
        while cards:
            g["cards"][k] = lowest(cards)
            cards &= cards - 1
            k += 1
    g["episode_stream"] = random_word(g)
