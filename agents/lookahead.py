"""Lookahead in the play: which hands the opponent may hold, and the net points of a card against each.

Suits do not matter in the play. A hand is one packed number, with four bits per rank for its number of cards;
the cards laid are an array of ranks. Nothing is allocated during a search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.hands import HANDS, N_FOURS, RANK_COUNTS
from crib_env.hands import packed as packed_ranks
from crib_env.kernels import kernel, lowest, mask_of
from crib_env.players.hidden import DECK, least_value
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points

MOST_CARDS = 8  # cards laid in one deal
# All copies of the ranks that fit when `room` is left to 31, for room 0 … 10.
_FITS = np.array(
    [sum(15 << 4 * rank for rank in range(13) if card_value(rank) <= room) for room in range(11)], np.int64
)
_FAR = np.int64(1_000)  # above any net points
# By cards of a rank unseen and held: the ways to draw them.
_WAYS = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0], [1, 3, 3, 1, 0], [1, 4, 6, 4, 1]], np.int64)


def _all_hands() -> np.ndarray:
    """(5, 1820) hands by number of cards, packed, those without high ranks first."""
    hands = np.zeros((len(HANDS), N_FOURS), np.int64)
    for k, (ranks, counts) in enumerate(zip(HANDS, RANK_COUNTS)):
        held = [np.flatnonzero(of_hand)[::-1].tolist() for of_hand in counts]
        order = sorted(range(len(ranks)), key=lambda h: (held[h], counts[h].tolist()))
        hands[k, : len(ranks)] = packed_ranks(ranks[order])
    return hands


_HANDS = _all_hands()
_N_HANDS = np.array([len(hands) for hands in HANDS])

# One level of a search: the position after so many cards, for all hands that can reach it.
_LEVEL = np.dtype(
    [
        ("start", "i8"),
        ("count", "i8"),
        ("own", "i8"),  # packed hand of the player
        ("own_laid", "?"),  # whether the last card was the player's
        ("n_hands", "i8"),
        ("rest", "i8", N_FOURS),  # packed
        ("low", "i8", N_FOURS),  # alpha: a result between the bounds is exact, any other is a bound itself
        ("high", "i8", N_FOURS),
        ("net", "i8", N_FOURS),  # the result: net points from here on
        ("parent", "i8", N_FOURS),  # the same hand one level up
    ]
)


class Pile(NamedTuple):
    """The cards laid in a deal."""

    ranks: np.ndarray  # (8,) int64, the first ``n`` are laid; a search overwrites the others
    start: int  # the present count begins at ``ranks[start]``
    n: int
    count: int  # type: ignore[assignment]  # hides `tuple.count`, which is not used


def new_levels() -> np.ndarray:
    """Work space of :func:`look_ahead`: one record for each card of the play, and one more."""
    return np.zeros(MOST_CARDS + 1, _LEVEL)


@kernel
def one_of(rank):
    """A packed hand of one card."""
    return np.int64(1) << np.int64(4 * rank)


@kernel
def holds(hand, rank):
    """How many cards of a rank a packed hand holds."""
    return (hand >> np.int64(4 * rank)) & 15


@kernel
def that_fit(hand, count):
    """The part of a packed hand that may be laid at a count."""
    return hand & _FITS[min(COUNT_LIMIT - count, 10)]


@kernel
def without_rank(hand, rank):
    """A packed hand without the cards of a rank."""
    return hand & ~(np.int64(15) << np.int64(4 * rank))


@kernel
def packed(cards):
    """The packed hand of a mask of cards."""
    hand = np.int64(0)
    while cards:
        hand += one_of(lowest(cards) % 13)
        cards &= cards - 1
    return hand


@kernel
def ways_to_draw(hand, unseen):
    """In how many ways a packed hand can be drawn from the unseen cards, packed too."""
    ways = np.int64(1)
    while hand:
        rank = lowest(hand) >> 2
        ways *= _WAYS[holds(unseen, rank), holds(hand, rank)]
        hand = without_rank(hand, rank)
    return ways


@kernel
def possible_hands(unseen, least, n_cards, hands, weights):
    """Fills every hand of ``n_cards`` (0 … 4) that the opponent may hold, and the ways to draw it from the unseen cards
    (packed); no card has a value below ``least``. Returns how many hands there are, at most 1820."""
    n = 0
    for k in range(_N_HANDS[n_cards]):
        hand = _HANDS[n_cards, k]
        if not that_fit(hand, COUNT_LIMIT + 1 - least):
            ways = ways_to_draw(hand, unseen)
            if ways:
                hands[n], weights[n] = hand, ways
                n += 1
    return n


class Measures(NamedTuple):
    """What laying each rank means in B decisions, over all hands that the opponent may hold; 0 without a choice."""

    expected: np.ndarray
    """(B, 13) float64, the mean net points."""
    highest: np.ndarray
    """(B, 13) int64, the highest net points."""
    reply: np.ndarray
    """(B, 13) int64, the most that the opponent's next card can make."""


def measure(views: PlayerViews, depths: np.ndarray) -> Measures:
    """Looks ahead in B decisions of the play, so many cards (B,)."""
    shape = len(views), 13
    measures = Measures(np.zeros(shape), np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    _measure(views.arrays, depths, new_levels(), measures)
    return measures


@kernel
def _measure(views, depths, levels, measures):
    hands, net, weights = levels[0]["rest"], levels[0]["net"], np.empty(N_FOURS, np.int64)
    for b in range(len(depths)):
        ranks, n = np.empty(MOST_CARDS, np.int64), np.int64(views.n_laid[b])
        for k in range(n):
            ranks[k] = views.laid[b, k] % 13
        pile = Pile(ranks, np.int64(views.pile_start[b]), n, np.int64(views.count[b]))
        held = mask_of(views.hand[b])
        own, starter = packed(held), views.starter[b : b + 1]
        choices = that_fit(own, pile.count)
        if not without_rank(choices, lowest(choices) >> 2):
            continue
        unseen = packed(DECK & ~(held | mask_of(views.discards[b]) | mask_of(views.laid[b]) | mask_of(starter)))
        least, theirs = least_value(views.laid[b], views.laid_by[b], pile.start, n), np.int64(views.opponent_cards[b])
        n_hands = possible_hands(unseen, least, theirs, hands, weights)
        while choices:
            rank = lowest(choices) >> 2
            choices = without_rank(choices, rank)
            look_ahead(pile, own, rank, depths[b], n_hands, levels)
            total, ways, highest = 0.0, np.int64(0), -_FAR
            for k in range(n_hands):
                total += weights[k] * net[k]
                ways += weights[k]
                highest = max(highest, net[k])
            measures.expected[b, rank], measures.highest[b, rank] = total / ways, highest
            measures.reply[b, rank] = _highest_reply(pile, rank, unseen if theirs else np.int64(0), least)


@kernel
def _highest_reply(pile, rank, unseen, least):
    ranks, start, n = pile.ranks, pile.start, pile.n
    ranks[n] = rank
    count, most = pile.count + card_value(rank), np.int64(0)
    for reply in range(13):
        value = card_value(reply)
        if count + value <= COUNT_LIMIT and value >= least and holds(unseen, reply):
            ranks[n + 1] = reply
            most = max(most, pile_points(ranks, start, n + 2, count + value))
    return most


@kernel
def look_ahead(pile, own, rank, depth, n_hands, levels):
    """Net points of laying a rank now, own less the opponent's, for many hands of the opponent at once.

    Minimax over the next ``depth`` cards, this one included, with alpha-beta pruning (Knuth and Moore 1975), as if both
    saw both hands. One walk over the cards that may be laid serves all hands, so the points of a card are computed
    once; a hand leaves the walk where its own bounds cut. Go and the point for the last card of a count are included;
    the end of the game at 121 is ignored. ``levels[0]["rest"]`` holds the hands, all of equally many cards, and
    ``levels[0]["net"]`` gets the results.
    """
    pile.ranks[pile.n] = rank
    count = pile.count + card_value(rank)
    root = levels[0]
    root["start"], root["count"], root["own"], root["own_laid"] = pile.start, count, own - one_of(rank), True
    root["n_hands"] = n_hands
    root["low"][:n_hands], root["high"][:n_hands] = -_FAR, _FAR
    _fill_nets(levels, np.int64(0), pile.ranks, pile.n + 1, depth - 1)
    root["net"][:n_hands] += pile_points(pile.ranks, pile.start, pile.n + 1, count)


@kernel
def _fill_nets(levels, at, ranks, n, depth):
    """Fills the results of a level, ``n`` cards laid and ``depth`` left to search."""
    node, after = levels[at], levels[at + 1]
    own, own_laid, count, n_hands = node["own"], node["own_laid"], node["count"], node["n_hands"]
    rest, low, high, net = node["rest"], node["low"], node["high"], node["net"]
    next_rest, next_low, next_high, next_net = after["rest"], after["low"], after["high"], after["net"]
    parent = after["parent"]
    fits = _FITS[min(COUNT_LIMIT - count, 10)]
    own_fits = own & fits != 0
    together = not own_laid and own_fits  # the player continues this count, whatever the opponent holds
    for group in range(2):  # first the hands with which this count is continued, by either; then the others
        own_is_next = together or (own_laid and group == 1)
        gain, start, now = np.int64(0), node["start"], count
        if group == 1 and not own_fits:  # go, or last card
            gain = np.int64(0 if count == COUNT_LIMIT else 1 if own_laid else -1)
            start, now = n, np.int64(0)
            own_is_next = rest[0] == 0 if own_laid else own != 0
        is_over = depth == 0 or (own == 0 if own_is_next else rest[0] == 0)
        choices = np.int64(0)  # packed, of all hands together
        for j in range(n_hands):
            if _is_in_group(rest[j], fits, together, group):
                net[j] = gain if is_over else -_FAR if own_is_next else _FAR
                choices |= own if own_is_next else rest[j]
        choices = np.int64(0) if is_over else that_fit(choices, now)
        while choices:
            rank = lowest(choices) >> 2
            choices = without_rank(choices, rank)
            then = now + card_value(rank)
            ranks[n] = rank
            points = np.int64(pile_points(ranks, start, n + 1, then))
            worth, laid = gain + (points if own_is_next else -points), np.int64(0) if own_is_next else one_of(rank)
            k = 0
            for j in range(n_hands):
                floor, ceiling = low[j], high[j]
                if not _is_in_group(rest[j], fits, together, group):
                    continue
                if own_is_next:
                    floor = max(floor, net[j])
                elif holds(rest[j], rank):
                    ceiling = min(ceiling, net[j])
                else:
                    continue
                if floor < ceiling:
                    next_rest[k], next_low[k], next_high[k], parent[k] = (
                        rest[j] - laid,
                        floor - worth,
                        ceiling - worth,
                        j,
                    )
                    k += 1
            if k == 0:
                continue
            after["start"], after["count"], after["n_hands"] = start, then, k
            after["own"], after["own_laid"] = own - one_of(rank) if own_is_next else own, own_is_next
            _fill_nets(levels, at + 1, ranks, n + 1, depth - 1)
            for i in range(k):
                j, value = parent[i], worth + next_net[i]
                net[j] = max(net[j], value) if own_is_next else min(net[j], value)


@kernel
def _is_in_group(rest, fits, together, group):
    return group == 0 if together else (rest & fits != 0) == (group == 0)
