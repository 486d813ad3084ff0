"""The best card in the play against every possible hand of the opponent: a search to the end of the play.

The player does not see the opponent's hand, so it must make the same choice for all hands that look alike. The search
carries a list of weighted hands down the tree, splits it by what the opponent would lay or by a go, and takes the best
card for the whole list. The opponent chooses at random (:mod:`crib_env.agents.belief.opponent_hands`), the player its
best card. Nothing of this but the player's choice depends on the scores, so one search values a decision at many pairs
of scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.agents.belief.lookahead import holds, one_of, that_fit, without_rank
from crib_env.agents.belief.opponent_hands import (
    CAREFUL_TYPE,
    careful_choice,
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
LEVELS = DEPTH + 6  # rows of values: the player also lays four times

# A possible hand of the opponent.
HAND = np.dtype(
    [
        ("cards", "i8"),  # still held, packed
        ("weight", "f8"),
        ("kind", "i8"),  # type of opponent
        ("show", "i8"),  # points of all four cards
        ("least", "f8"),  # of a careful holder who is to lay, see `careful_choice`
        ("considered", "f8"),
    ]
)


class Position(NamedTuple):
    """The state of the play as both players see it, without the ranks laid, and the player's hand."""

    own: int
    """Own cards, packed."""
    made: int
    """Own points since the decision."""
    conceded: int
    """The opponent's points since the decision."""
    start: int
    """Index of the first card of this count among the cards laid."""
    n: int
    """Number of cards laid."""
    count: int  # type: ignore[assignment]  # it hides `tuple.count`, which nothing here uses
    last: int
    """Who laid the last card: ``OWN`` or ``OPPONENTS``."""
    cards: int
    """Number of cards that the opponent holds."""
    goal: int
    """The fewest points that win at any of the scores."""
    others_goal: int
    """The same for the opponent."""


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
def _settle(scores, side, points, won, level, values):
    """Sets row ``level`` of ``values`` to ``won`` where these points reach 121; whether they do at all scores."""
    n = scores.shape[1]
    n_over = 0
    for i in range(n):
        if scores[side, i] + points >= WIN:
            values[level, i] = won
            n_over += 1
    return n_over == n


@kernel
def _fill_end(position, depth, size, hands, scores, after_play, level, values):
    """Fills row ``level`` of ``values`` after the last card of the play."""
    last = after_play.shape[1] - 1  # scores beyond the end belong to games that are over
    for i in range(scores.shape[1]):
        own, score = min(scores[OWN, i] + position.made, WIN), scores[OPPONENTS, i] + position.conceded
        total = 0.0
        for k in range(size):
            total += hands[depth, k]["weight"] * after_play[own, min(score + hands[depth, k]["show"], last)]
        values[level, i] = total


@kernel
def _add(values, level):
    """Adds the row below to row ``level``."""
    for i in range(values.shape[1]):
        values[level, i] += values[level + 1, i]


@kernel
def value_of(turn, passed, position, depth, size, hands, pile, scores, after_play, level, values):
    """Fills ``values[level]`` with the chance to win, times the weight of the list of hands, at each pair of scores.

    Args:
        turn: ``OWN``, ``OPPONENTS``, or ``COUNT_OVER`` when neither can lay.
        passed: whether the other player has just said go.
        position: a :class:`Position`.
        depth, size: index of the list of hands, and the number of hands in it.
        hands: (``DEPTH``, …) ``HAND``, the lists.
        pile: ranks laid.
        scores: (2, N) int64, own scores and the opponent's at the decision: the cards are valued at all of them.
        after_play: (122, 150) chance to win, by own score after the play and by the opponent's score after its show.
        level, values: (``LEVELS``, N) and a row of it; the rows below are overwritten.
    """
    own, made, conceded, start, n, count, last, cards, goal, others_goal = position
    if turn == OWN and that_fit(own, count) == 0:
        turn = COUNT_OVER if passed else OPPONENTS
        passed = True
    if turn == COUNT_OVER:
        side, points, won = last, made, 0.0
        ends = False
        if count != COUNT_LIMIT:  # go, or last card
            if last == OWN:
                made += 1
                if made >= goal:
                    ends, points, won = True, made, _weight(hands, depth, size)
            else:
                conceded += 1
                ends, points = conceded >= others_goal, conceded
            if ends and _settle(scores, side, points, won, level, values):
                return
        fresh = Position(own, made, conceded, n, n, np.int64(0), last, cards, goal, others_goal)
        if own == 0 and cards == 0:
            _fill_end(fresh, depth, size, hands, scores, after_play, level, values)
        else:
            turn = 1 - last
            if (turn == OWN and own == 0) or (turn == OPPONENTS and cards == 0):
                turn = last
            value_of(turn, _NOT_PASSED, fresh, depth, size, hands, pile, scores, after_play, level, values)
        if ends:
            _settle(scores, side, points, won, level, values)
        return

    n_scores, below = scores.shape[1], level + 1
    for i in range(n_scores):
        values[level, i] = 0.0
    if turn == OWN:
        can = that_fit(own, count)
        while can:
            rank = lowest(can) >> 2
            can = without_rank(can, rank)
            after = count + card_value(rank)
            pile[n] = rank
            then_made = made + pile_points(pile, start, n + 1, after)
            ends = then_made >= goal
            weight = _weight(hands, depth, size) if ends else 0.0
            if ends and _settle(scores, OWN, then_made, weight, below, values):
                for i in range(n_scores):
                    values[level, i] = weight
                return
            laid = Position(own - one_of(rank), then_made, conceded, start, n + 1, after, OWN, cards, goal, others_goal)
            value_of(OPPONENTS, _NOT_PASSED, laid, depth, size, hands, pile, scores, after_play, below, values)
            if ends:
                _settle(scores, OWN, then_made, weight, below, values)
            for i in range(n_scores):
                values[level, i] = max(values[level, i], values[below, i])
        return

    # The opponent's turn: first the hands that cannot lay, then the others, split by the card laid.
    stuck, present, choice = np.int64(0), np.int64(0), False
    for k in range(size):
        can = that_fit(hands[depth, k]["cards"], count)
        if can == 0:
            hands[depth + 1, stuck] = hands[depth, k]
            stuck += 1
        else:
            present |= can
            choice = choice or without_rank(can, lowest(can) >> 2) != 0
    if stuck:
        after_go = Position(own, made, conceded, start, n, count, last, cards, goal, others_goal)
        turn = COUNT_OVER if passed else OWN
        value_of(turn, _PASSED, after_go, depth + 1, stuck, hands, pile, scores, after_play, below, values)
        _add(values, level)
    if present == 0:
        return
    care, greed = np.empty(13), np.empty(13, np.int64)
    if choice:
        weigh_cards(present, pile, start, n, count, _cards(own), care, greed)
        for k in range(size):
            if hands[depth, k]["kind"] == CAREFUL_TYPE:
                least, considered = careful_choice(that_fit(hands[depth, k]["cards"], count), care, _LEAST_CHANCE)
                hands[depth, k]["least"], hands[depth, k]["considered"] = least, considered
    while present:
        rank = lowest(present) >> 2
        present = without_rank(present, rank)
        laying = np.int64(0)
        for k in range(size):
            hand = hands[depth, k]
            if holds(hand["cards"], rank):
                chance = 1.0
                if choice:
                    if hand["kind"] == CAREFUL_TYPE:
                        chance = care[rank] / hand["considered"] if care[rank] >= hand["least"] else 0.0
                    else:
                        chance = greedy_chance(rank, that_fit(hand["cards"], count), greed, 0.0)
                if chance > 0:
                    then = hands[depth + 1, laying]
                    then["cards"], then["weight"] = hand["cards"] - one_of(rank), hand["weight"] * chance
                    then["kind"], then["show"] = hand["kind"], hand["show"]
                    laying += 1
        if laying == 0:
            continue
        after = count + card_value(rank)
        pile[n] = rank
        then_conceded = conceded + pile_points(pile, start, n + 1, after)
        ends = then_conceded >= others_goal
        if ends and _settle(scores, OPPONENTS, then_conceded, 0.0, below, values):
            continue
        laid = Position(own, made, then_conceded, start, n + 1, after, OPPONENTS, cards - 1, goal, others_goal)
        value_of(OWN, _NOT_PASSED, laid, depth + 1, laying, hands, pile, scores, after_play, below, values)
        if ends:
            _settle(scores, OPPONENTS, then_conceded, 0.0, below, values)
        _add(values, level)


@kernel
def _first_winner(position, pile, goal):
    """The lowest rank that makes at least ``goal`` points at once, or -1."""
    can = that_fit(position.own, position.count)
    while can:
        rank = lowest(can) >> 2
        can = without_rank(can, rank)
        pile[position.n] = rank
        if pile_points(pile, position.start, position.n + 1, position.count + card_value(rank)) >= goal:
            return rank
    return np.int64(-1)


@kernel
def card_values(position, size, hands, pile, scores, after_play, winner_alone, values):
    """Fills ``values`` (N, 13) with the chance to win after each rank that may be laid, -inf for the others.

    Arguments as for :func:`value_of`; the first list holds all possible hands of the opponent. With ``winner_alone``
    a rank that wins at once is the only one with a value. The search may find that another rank wins too, but this is
    certain only if the list holds every possible hand.
    """
    own, made, conceded, start, n, count, _, cards, goal, others_goal = position
    found, n_decided = np.zeros((LEVELS, len(values))), 0
    values[:] = -np.inf
    if winner_alone:
        for i in range(len(values)):
            rank = _first_winner(position, pile, WIN - scores[OWN, i])
            if rank >= 0:
                values[i, rank] = 1.0
                n_decided += 1
    can = that_fit(own, count) if n_decided < len(values) else np.int64(0)
    while can:
        rank = lowest(can) >> 2
        can = without_rank(can, rank)
        after = count + card_value(rank)
        pile[n] = rank
        then_made = made + pile_points(pile, start, n + 1, after)
        if not _settle(scores, OWN, then_made, 1.0, 0, found):
            laid = Position(own - one_of(rank), then_made, conceded, start, n + 1, after, OWN, cards, goal, others_goal)
            value_of(
                OPPONENTS, _NOT_PASSED, laid, np.int64(0), size, hands, pile, scores, after_play, np.int64(0), found
            )
            _settle(scores, OWN, then_made, 1.0, 0, found)
        for i in range(len(values)):
            if n_decided == 0 or _first_winner(position, pile, WIN - scores[OWN, i]) < 0:
                values[i, rank] = found[0, i]
