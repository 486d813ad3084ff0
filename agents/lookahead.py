"""Lookahead in the play: which hands the opponent may hold, and the net points of a card against each.

Suits do not matter in the play. A hand is one packed number, with four bits per rank for its number of cards;
the cards laid are an array of ranks. Nothing is allocated during a search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.kernels import kernel, lowest
from crib_env.players.hidden import least_value
from crib_env.scoring import COUNT_LIMIT, card_value, pile_points

MOST_CARDS = 8  # cards laid in one deal
N_HANDS = 2_380  # ways to hold at most four cards, by ranks
# All copies of the ranks that fit when `room` is left to 31, for room 0 … 10.
_FITS = np.array(
    [sum(15 << 4 * rank for rank in range(13) if card_value(rank) <= room) for room in range(11)], np.int64
)
_FAR = np.int64(1_000)  # above any net points

# One level of a search: the position after so many cards, for all hands that can reach it.
_LEVEL = np.dtype(
    [
        ("start", "i8"),
        ("count", "i8"),
        ("own", "i8"),  # packed hand of the player
        ("own_laid", "?"),  # whether the last card was the player's
        ("n_hands", "i8"),
        ("rest", "i8", N_HANDS),  # packed
        ("low", "i8", N_HANDS),  # alpha: a result between the bounds is exact, any other is a bound itself
        ("high", "i8", N_HANDS),
        ("net", "i8", N_HANDS),  # the result: net points from here on
        ("parent", "i8", N_HANDS),  # the same hand one level up
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
    """The packed hand of an array of card ids, in which -1 is no card."""
    hand = np.int64(0)
    for card in cards:
        if card >= 0:
            hand += one_of(card % 13)
    return hand


@kernel
def unseen_by(hand, discards, starter, laid):
    """How many cards of each rank a player has not seen, packed: four minus those in the given views (ids, or -1)."""
    unseen = np.int64(0x4444444444444) - packed(hand) - packed(discards) - packed(laid)
    return unseen if starter < 0 else unseen - one_of(starter % 13)


@kernel
def possible_hands(unseen, least, n_cards, hands, weights):
    """Every hand that the opponent may hold, by ranks, and the number of ways to draw it from the unseen cards.

    Args:
        unseen: packed.
        least: no card of a lower value is in the hand.
        n_cards: how many cards it has, 0 … 4.
        hands, weights: (``N_HANDS``,) int64, to be filled from the start.

    Returns:
        How many hands there are.
    """
    sizes = np.zeros(N_HANDS, np.int64)
    hands[0], weights[0], n = 0, 1, 1
    for rank in range(13):
        if card_value(rank) < least:
            continue
        left = holds(unseen, rank)
        for k in range(n):  # to each hand of lower ranks, one or more cards of this rank
            ways = weights[k]
            for more in range(1, min(left, n_cards - sizes[k]) + 1):
                ways = ways * (left - more + 1) // more
                hands[n], weights[n], sizes[n] = hands[k] + more * one_of(rank), ways, sizes[k] + more
                n += 1
    full = 0
    for k in range(n):
        if sizes[k] == n_cards:
            hands[full], weights[full] = hands[k], weights[k]
            full += 1
    return full


class Decision(NamedTuple):
    """A choice in the play, for :func:`look_ahead`."""

    pile: Pile
    own: int  # packed hand of the player
    choices: int  # its part that may be laid
    unseen: int  # packed, the cards that the opponent may hold
    least: int  # see `least_value`
    n_hands: int  # of the opponent, in ``levels[0]["rest"]``; 0 if only one rank may be laid


@kernel
def decision_of(views, b, levels, weights):
    """The :class:`Decision` of a row of ``views`` (arrays of :class:`crib_env.PlayerViews`).

    Args:
        levels: of :func:`new_levels`.
        weights: (``N_HANDS``,) int64, gets the number of ways to draw each hand.
    """
    ranks, n = np.empty(MOST_CARDS, np.int64), np.int64(views.n_laid[b])
    for k in range(n):
        ranks[k] = views.laid[b, k] % 13
    pile = Pile(ranks, np.int64(views.pile_start[b]), n, np.int64(views.count[b]))
    own, theirs = packed(views.hand[b]), np.int64(views.opponent_cards[b])
    choices, unseen = that_fit(own, pile.count), np.int64(0)
    if theirs:
        unseen = unseen_by(views.hand[b], views.discards[b], views.starter[b], views.laid[b])
    least, n_hands = least_value(views.laid[b], views.laid_by[b], pile.start, n), np.int64(0)
    if without_rank(choices, lowest(choices) >> 2):
        n_hands = possible_hands(unseen, least, theirs, levels[0]["rest"], weights)
    return Decision(pile, own, choices, unseen, least, n_hands)


@kernel
def look_ahead(pile, own, rank, depth, n_hands, levels):
    """Net points of laying a rank now, own less the opponent's, for many hands of the opponent at once.

    Minimax over the next ``depth`` cards with alpha-beta pruning (Knuth and Moore 1975), as if both saw both hands. One
    walk over the cards that may be laid serves all hands, so the points of a card are computed once; a hand leaves
    the walk where its own bounds cut. Go and the point for the last card of a count are included; the end of the
    game at 121 is ignored.

    Args:
        pile: :class:`Pile`.
        own: packed hand of the player.
        rank: held, and low enough for the count.
        depth: how many cards to search, this one included; 8 reaches the end of any play.
        n_hands: how many hands there are, all of equally many cards.
        levels: of :func:`new_levels`. ``levels[0]["rest"]`` holds the hands, packed; the results go to
            ``levels[0]["net"]``.
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


@kernel
def lowest_of_rank(legal, rank):
    """The lowest id of a rank among legal cards, one row of ``action_mask``."""
    card = np.int64(rank)
    while not legal[card]:
        card += 13
    return card
