"""The native opponents: kernels that choose a card from one player's information.

The engine's kernels call them as :func:`native_card`; agents call them for batches of views.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine import DISCARD, legal_cards
from crib_env.exact.discard_means import best_discard, best_discard_and_total
from crib_env.kernels import GOLDEN, below, kernel, lowest, mix, popcount, scratch
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points

NATIVE = ("random", "greedy", "careful")
RANDOM, GREEDY, CAREFUL = range(3)
_CARE = 0.7  # weight of the points of the opponent's next card; below 1, because one can score on that card in turn
_MOST = 14  # points of one card: four of a kind that make 31
_CARDS, _RANKS = np.arange(5), np.arange(14)
# By number of cards, then of ranks: the probability that none of the cards has one of these ranks.
_LACKS_EACH = ((12 / 13) ** _CARDS)[:, None] ** _RANKS  # each rank independently of the others
_LACKS_ALL = (1 - _RANKS / 13) ** _CARDS[:, None]


@kernel
def random_card(legal, word):
    """Any of up to six legal cards (a mask), by a random word."""
    to_pass = below(word, popcount(legal))
    for k in range(5):  # always five times: a loop of random length would cost more than it saves
        legal &= legal - (1 if k < to_pass else 0)
    return lowest(legal)


@kernel
def greedy_discard(hand, discarded, is_dealer):
    """The next card of the best pair by exact means, for the hand still held and the mask already discarded."""
    return lowest(best_discard(hand | discarded, discarded, is_dealer) & hand)


@kernel
def greedy_play(legal, laid, pile_start, n_laid, count):
    """The legal card with the most points at once; ties go to the highest value, then to the lowest id."""
    best, best_points, best_value = np.int64(-1), np.int64(-1), np.int64(0)
    pile = scratch(8, np.int64)
    for k in range(n_laid):
        pile[k] = laid[k]
    while legal:
        card = lowest(legal)
        legal &= legal - 1
        value = card_value(card % 13)
        pile[n_laid] = card
        points = pile_points(pile, pile_start, n_laid + 1, count + value)
        if points > best_points or (points == best_points and value > best_value):
            best, best_points, best_value = card, points, value
    return best


@kernel
def careful_discard(hand, discarded, is_dealer):
    """The next card of the pair with the best exact mean of the hand plus the own crib, or minus the opponent's."""
    pair = best_discard_and_total(hand | discarded, discarded, 1 if is_dealer else -1)[0]
    return lowest(pair & hand)


@kernel
def expected_reply(pile, start, n, count, cards):
    """The mean points of the opponent's next card, minus the probability that the opponent must say go.

    ``pile[start:n]`` are the ranks of this count, and ``pile[n]`` is overwritten. Every rank is taken to be equally
    likely for each of the opponent's ``cards``, and holding one rank to be independent of holding another. The error is
    at most a tenth of a point.
    """
    if cards == 0:
        return 0.0
    worth, most, fitting = np.int64(0), np.int64(0), 0  # four bits of `worth` for each point: ranks that would score it
    for rank in range(13):
        after = count + card_value(rank)
        if after <= COUNT_LIMIT:
            pile[n] = rank
            points = pile_points(pile, start, n + 1, after)
            if points <= _MOST:  # there is no fifth card of a rank
                worth += np.int64(1) << (4 * points)
                most = max(most, points)
                fitting += 1
    expected, lacks_better = 0.0, 1.0
    for points in range(most, 0, -1):
        ranks = (worth >> (4 * points)) & 15
        if ranks:
            lacks = _LACKS_EACH[cards, ranks]
            expected += lacks_better * (1 - lacks) * points
            lacks_better *= lacks
    return expected - _LACKS_ALL[cards, fitting]


@kernel
def careful_play(legal, laid, pile_start, n_laid, count, opponent_cards):
    """The legal card with the most points at once minus ``_CARE`` times the expected reply; ties go to the lowest
    id."""
    best, best_value = np.int64(-1), -1e9
    pile = scratch(9, np.int64)
    for k in range(n_laid):
        pile[k] = laid[k] % 13
    while legal:
        card = lowest(legal)
        legal &= legal - 1
        pile[n_laid] = card % 13
        after = count + card_value(card % 13)
        value = pile_points(pile, pile_start, n_laid + 1, after) - _CARE * expected_reply(
            pile, pile_start, n_laid + 1, after, opponent_cards
        )
        if value > best_value:
            best, best_value = card, value
    return best


# What a native player discards or lays for the seat to act, by :data:`NATIVE`. It reads nothing hidden from that seat.


@kernel
def random_choice(g):
    """Any legal card, by the game's own stream."""
    g["policy_stream"] += GOLDEN
    return random_card(legal_cards(g), mix(g["policy_stream"]))


@kernel
def greedy_choice(g):
    """See :func:`greedy_discard` and :func:`greedy_play`."""
    seat = g["turn"]
    if g["phase"] == DISCARD:
        return greedy_discard(g["hand"][seat], g["discards"][seat], seat == g["dealer"])
    start, n, count = np.int64(g["pile_start"]), np.int64(g["n_laid"]), np.int64(g["count"])
    return greedy_play(legal_cards(g), g["laid"], start, n, count)


@kernel
def careful_choice(g):
    """See :func:`careful_discard` and :func:`careful_play`."""
    seat = g["turn"]
    if g["phase"] == DISCARD:
        return careful_discard(g["hand"][seat], g["discards"][seat], seat == g["dealer"])
    start, n, count = np.int64(g["pile_start"]), np.int64(g["n_laid"]), np.int64(g["count"])
    return careful_play(legal_cards(g), g["laid"], start, n, count, popcount(g["hand"][1 - seat]))


CHOICES = (random_choice, greedy_choice, careful_choice)


@kernel
def native_card(g, policy):
    """The choice of a native player whose number is known at run time only."""
    if policy == RANDOM:
        return random_choice(g)
    return greedy_choice(g) if policy == GREEDY else careful_choice(g)


@kernel
def choose(games, policy):
    """:func:`native_card` for the first game of an array, to be called from Python."""
    return native_card(games[0], policy)
