"""The best card in the play against every possible hand of the opponent: a search to the end of the play.

The player does not see the opponent's hand, so it must make the same choice for all hands that look alike. The search
carries a list of weighted hands down the tree, splits it by what the opponent would lay or by a go, and takes the best
card for the whole list. The opponent chooses at random (:mod:`crib_env.agents.belief.opponent_hands`), the player its
best card.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.agents.belief.lookahead import holds, one_of, that_fit, without_rank
from crib_env.agents.belief.opponent_hands import (
    CAREFUL_TYPE,
    careful_chance,
    greedy_chance,
    weigh_cards,
)
from crib_env.engine import WIN
from crib_env.kernels import kernel, lowest
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points

# NumPy's numbers, not Python's: Numba would compile `value_of` again for each constant argument. Loading several of
# these versions, which call each other, from the cache crashes the process (numba/numba#6061).
OWN, OPPONENTS, COUNT_OVER = np.arange(3)  # whose turn it is
_PASSED, _NOT_PASSED = np.bool_(True), np.bool_(False)
_LEAST_CHANCE = 0.1  # opponent's cards less likely than this are left out of the tree
DEPTH = 18  # number of lists: the opponent lays four times and can say go before each own card and each end of a count

# A possible hand of the opponent.
HAND = np.dtype(
    [
        ("cards", "i8"),  # still held, packed
        ("weight", "f8"),
        ("kind", "i8"),  # type of opponent
        ("show", "i8"),  # points of all four cards
    ]
)


class Position(NamedTuple):
    """The state of the play as both players see it, without the ranks laid, and the player's hand."""

    own: int
    """Own cards, packed."""
    own_score: int
    score: int
    """The opponent's score."""
    start: int
    """Index of the first card of this count among the cards laid."""
    n: int
    """Number of cards laid."""
    count: int  # type: ignore[assignment]  # it hides `tuple.count`, which nothing here uses
    last: int
    """Who laid the last card: ``OWN`` or ``OPPONENTS``."""
    cards: int
    """Number of cards that the opponent holds."""


@kernel
def _weight(hands, depth, size):
    total = 0.0
    for k in range(size):
        total += hands[depth, k]["weight"]
    return total


@kernel
def _cards(hand):
    n = np.int64(0)
    while hand:
        n += hand & 15
        hand >>= 4
    return n


@kernel
def value_of(turn, passed, position, depth, size, hands, pile, after_play):
    """The chance to win, times the weight of the list of hands.

    Args:
        turn: ``OWN``, ``OPPONENTS``, or ``COUNT_OVER`` when neither can lay.
        passed: whether the other player has just said go.
        position: a :class:`Position`.
        depth, size: index of the list of hands, and the number of hands in it.
        hands: (``DEPTH``, …) ``HAND``, the lists.
        pile: ranks laid.
        after_play: (121, 150) chance to win, by own score after the play and by the opponent's score after its show.
    """
    own, own_score, score, start, n, count, last, cards = position
    if turn == OWN and that_fit(own, count) == 0:
        turn = COUNT_OVER if passed else OPPONENTS
        passed = True
    if turn == COUNT_OVER:
        if count != COUNT_LIMIT:  # go, or last card
            if last == OWN:
                own_score += 1
                if own_score >= WIN:
                    return _weight(hands, depth, size)
            else:
                score += 1
                if score >= WIN:
                    return 0.0
        if own == 0 and cards == 0:
            total = 0.0
            for k in range(size):
                hand = hands[depth, k]
                total += hand["weight"] * after_play[own_score, score + hand["show"]]
            return total
        turn = 1 - last
        if (turn == OWN and own == 0) or (turn == OPPONENTS and cards == 0):
            turn = last
        start, count, passed = n, np.int64(0), False

    if turn == OWN:
        best, can = 0.0, that_fit(own, count)
        while can:
            rank = lowest(can) >> 2
            can = without_rank(can, rank)
            after = count + card_value(rank)
            pile[n] = rank
            made = own_score + pile_points(pile, start, n + 1, after)
            if made >= WIN:
                return _weight(hands, depth, size)
            laid = Position(own - one_of(rank), made, score, start, n + 1, after, OWN, cards)
            best = max(best, value_of(OPPONENTS, _NOT_PASSED, laid, depth, size, hands, pile, after_play))
        return best

    # The opponent's turn: first the hands that cannot lay, then the others, split by the card laid.
    total, stuck, present, choice = 0.0, np.int64(0), np.int64(0), False
    for k in range(size):
        can = that_fit(hands[depth, k]["cards"], count)
        if can == 0:
            hands[depth + 1, stuck] = hands[depth, k]
            stuck += 1
        else:
            present |= can
            choice = choice or without_rank(can, lowest(can) >> 2) != 0
    if stuck:
        after_go = Position(own, own_score, score, start, n, count, last, cards)
        turn = COUNT_OVER if passed else OWN
        total += value_of(turn, _PASSED, after_go, depth + 1, stuck, hands, pile, after_play)
    if present == 0:
        return total
    care, greed = np.empty(13), np.empty(13, np.int64)
    if choice:
        weigh_cards(present, pile, start, n, count, _cards(own), care, greed)
    while present:
        rank = lowest(present) >> 2
        present = without_rank(present, rank)
        laying = np.int64(0)
        for k in range(size):
            hand = hands[depth, k]
            if holds(hand["cards"], rank):
                chance = 1.0
                if choice:
                    can = that_fit(hand["cards"], count)
                    if hand["kind"] == CAREFUL_TYPE:
                        chance = careful_chance(rank, can, care, _LEAST_CHANCE)
                    else:
                        chance = greedy_chance(rank, can, greed, 0.0)
                if chance > 0:
                    then = hands[depth + 1, laying]
                    then["cards"], then["weight"] = hand["cards"] - one_of(rank), hand["weight"] * chance
                    then["kind"], then["show"] = hand["kind"], hand["show"]
                    laying += 1
        if laying == 0:
            continue
        after = count + card_value(rank)
        pile[n] = rank
        made = score + pile_points(pile, start, n + 1, after)
        if made < WIN:
            laid = Position(own, own_score, made, start, n + 1, after, OPPONENTS, cards - 1)
            total += value_of(OWN, _NOT_PASSED, laid, depth + 1, laying, hands, pile, after_play)
    return total


@kernel
def card_values(position, size, hands, pile, after_play, winner_alone, values):
    """Fills ``values`` (13,) with the chance to win after each rank that may be laid, -inf for the others.

    Arguments as for :func:`value_of`; the first list holds all possible hands of the opponent. With ``winner_alone``
    a rank that wins at once is the only one with a value. The search may find that another rank wins too, but this is
    certain only if the list holds every possible hand.
    """
    own, own_score, score, start, n, count, _, cards = position
    values[:] = -np.inf
    can = that_fit(own, count)
    while can:
        rank = lowest(can) >> 2
        can = without_rank(can, rank)
        after = count + card_value(rank)
        pile[n] = rank
        made = own_score + pile_points(pile, start, n + 1, after)
        if made >= WIN:
            if winner_alone:
                values[:] = -np.inf
                values[rank] = 1.0
                return
            values[rank] = 1.0
            continue
        laid = Position(own - one_of(rank), made, score, start, n + 1, after, OWN, cards)
        values[rank] = value_of(OPPONENTS, _NOT_PASSED, laid, np.int64(0), size, hands, pile, after_play)
