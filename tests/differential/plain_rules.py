"""The rules of two-player cribbage in plain code, compiled by Numba so that it can follow the engine over 10⁹ cards.

The same rules as ``tests/helpers/reference.py``, stated once more with small arrays of card ids (``13 * suit + rank``,
-1 where there is no card). Nothing is imported from ``crib_env``, and the code is deliberately simple: no bit masks, no
tables, every subset of a hand is checked. A deal: ``deal`` → ``discard`` four times → ``cut`` → ``lay`` … → ``show``.
"""

from __future__ import annotations

import numba
import numpy as np

plain = numba.njit(cache=True)  # no kernel here depends on another file, so Numba's own cache is right

WINNING_SCORE = 121
JACK = 10
NO_CARD = -1

DISCARDING, PLAYING, AWAITING_DEAL, OVER = range(4)
WHOLE_GAME, ONE_DEAL, PLAY_ALONE, PEGGING_ALONE = range(4)

_SCORED = "heels,fifteen,thirty-one,pair,three of a kind,four of a kind,run,go,last card"
KINDS = (*_SCORED.split(","), "pone's hand", "dealer's hand", "crib")
HEELS, FIFTEEN, THIRTY_ONE, PAIR, THREE, FOUR, RUN, GO, LAST_CARD, PONES_HAND, DEALERS_HAND, CRIB = range(12)

TABLE = np.dtype(
    [
        ("episode", "i8"),
        ("phase", "i8"),
        ("dealer", "i8"),
        ("turn", "i8"),
        ("scores", "i8", 2),
        ("hands", "i8", (2, 6)),  # cards still held
        ("discards", "i8", (2, 2)),  # in the crib
        ("kept", "i8", (2, 4)),  # the four cards that are shown
        ("starter", "i8"),
        ("laid", "i8", 8),  # every card of this deal's play, and who laid it
        ("laid_by", "i8", 8),
        ("pile", "i8", 8),  # cards laid since the count was last zero
        ("said_go", "i8", 2),
        ("n_events", "i8"),  # what the last card scored
        ("event_seat", "i8", 8),
        ("event_kind", "i8", 8),
        ("event_points", "i8", 8),
    ]
)


# --- Small arrays of cards ------------------------------------------------------------------------------------------


@plain
def rank(card):
    return card % 13


@plain
def suit(card):
    return card // 13


@plain
def value(card):
    return min(rank(card) + 1, 10)


@plain
def how_many(cards):
    n = 0
    for card in cards:
        if card != NO_CARD:
            n += 1
    return n


@plain
def add(cards, card):
    """Puts a card in the first free place."""
    for k in range(len(cards)):
        if cards[k] == NO_CARD:
            cards[k] = card
            return


@plain
def remove(cards, card):
    for k in range(len(cards)):
        if cards[k] == card:
            cards[k] = NO_CARD


@plain
def sum_of_values(cards):
    total = 0
    for card in cards:
        if card != NO_CARD:
            total += value(card)
    return total


# --- The show -------------------------------------------------------------------------------------------------------


@plain
def is_in(which, k):
    """Whether the k-th card belongs to a subset: subsets are numbered by the bits of ``which``."""
    return which // 2**k % 2 == 1


@plain
def is_fifteen(cards, which):
    total = 0
    for k in range(5):
        if is_in(which, k):
            total += value(cards[k])
    return total == 15


@plain
def run_of_subset(cards, which):
    """The length of the run that a subset makes: no two of a rank, no gap, three or more. Else 0."""
    n, lowest, highest = 0, 13, -1
    for k in range(5):
        if is_in(which, k):
            for j in range(k):
                if is_in(which, j) and rank(cards[j]) == rank(cards[k]):
                    return 0
            n += 1
            lowest, highest = min(lowest, rank(cards[k])), max(highest, rank(cards[k]))
    return n if n >= 3 and highest - lowest == n - 1 else 0


@plain
def points_of_subsets(five):
    """Fifteens, pairs and runs of five cards; a run counts only if it is no part of a longer one."""
    fifteens, pairs = 0, 0
    longest, points_of_runs = 0, 0
    for which in range(1, 2**5):
        fifteens += is_fifteen(five, which)
        length = run_of_subset(five, which)
        if length > longest:
            longest, points_of_runs = length, length
        elif length == longest:
            points_of_runs += length
    for k in range(5):
        for j in range(k):
            pairs += rank(five[j]) == rank(five[k])
    return 2 * fifteens + 2 * pairs + points_of_runs


@plain
def show_points(five, is_crib):
    """What four cards are worth with the starter, which comes last."""
    points = points_of_subsets(five)
    starter = five[4]
    one_suit = suit(five[0]) == suit(five[1]) == suit(five[2]) == suit(five[3])
    if one_suit and suit(starter) == suit(five[0]):
        points += 5
    elif one_suit and not is_crib:
        points += 4
    for k in range(4):
        if rank(five[k]) == JACK and suit(five[k]) == suit(starter):
            points += 1
    return points


# --- The course of a game -------------------------------------------------------------------------------------------


@plain
def begin(t, episode, first_dealer, score_0, score_1):
    """A new game, before its first deal."""
    t["episode"] = episode
    t["phase"] = AWAITING_DEAL
    t["dealer"] = 1 - first_dealer  # the first deal swaps this
    t["scores"][0], t["scores"][1] = score_0, score_1
    t["n_events"] = 0


@plain
def deal(t, cards):
    """Six cards to seat 0, six to seat 1, then the starter. The deal passes to the other player."""
    t["dealer"] = 1 - t["dealer"]
    t["turn"] = 1 - t["dealer"]
    t["hands"][0, :] = cards[0:6]
    t["hands"][1, :] = cards[6:12]
    t["starter"] = cards[12]
    t["discards"][:] = NO_CARD
    t["kept"][:] = NO_CARD
    t["laid"][:] = NO_CARD
    t["laid_by"][:] = NO_CARD
    t["pile"][:] = NO_CARD
    t["said_go"][:] = 0
    t["phase"] = DISCARDING
    if t["episode"] == PLAY_ALONE or t["episode"] == PEGGING_ALONE:  # the last two of each six are in the crib already
        for seat in range(2):
            for k in (4, 5):
                add(t["discards"][seat], t["hands"][seat, k])
                t["hands"][seat, k] = NO_CARD
            t["kept"][seat, :] = t["hands"][seat, :4]
        t["phase"] = PLAYING
    if t["episode"] == PEGGING_ALONE:  # there is no crib, and no starter
        t["discards"][:] = NO_CARD
        t["starter"] = NO_CARD


@plain
def count(t):
    return sum_of_values(t["pile"])


@plain
def is_legal(t, seat, card):
    """Whether a player may discard or lay a card."""
    if card == NO_CARD or t["phase"] == OVER or t["phase"] == AWAITING_DEAL:
        return False
    for held in t["hands"][seat]:
        if held == card:
            return t["phase"] == DISCARDING or count(t) + value(card) <= 31
    return False


@plain
def can_lay(t, seat):
    n = 0
    for card in t["hands"][seat]:
        n += is_legal(t, seat, card)
    return n > 0


@plain
def act(t, card):
    """The player to act discards or lays a card."""
    t["n_events"] = 0
    remove(t["hands"][t["turn"]], card)
    if t["phase"] == DISCARDING:
        discard(t, card)
    else:
        lay(t, card)


@plain
def peg(t, seat, points, kind):
    """Gives points to a player; True when that wins the game, and then nothing more may happen."""
    pegged = min(points, WINNING_SCORE - t["scores"][seat])  # the peg stops in the last hole
    t["scores"][seat] += pegged
    n = t["n_events"]
    t["event_seat"][n], t["event_kind"][n], t["event_points"][n] = seat, kind, pegged
    t["n_events"] = n + 1
    if t["scores"][seat] == WINNING_SCORE:
        t["phase"] = OVER
        return True
    return False


@plain
def discard(t, card):
    """Pone discards two cards to the crib, then the dealer, then the starter is cut."""
    pone, dealer = 1 - t["dealer"], t["dealer"]
    add(t["discards"][t["turn"]], card)
    if how_many(t["discards"][pone]) < 2:
        t["turn"] = pone
    elif how_many(t["discards"][dealer]) < 2:
        t["turn"] = dealer
    else:
        cut(t)


@plain
def cut(t):
    for seat in range(2):
        for card in t["hands"][seat]:
            if card != NO_CARD:
                add(t["kept"][seat], card)
    t["phase"] = PLAYING
    t["turn"] = 1 - t["dealer"]
    if rank(t["starter"]) == JACK:
        peg(t, t["dealer"], 2, HEELS)


@plain
def how_many_alike(pile, n):
    """How many of the last of n cards in a row are of one rank."""
    alike = 1
    while alike < n and rank(pile[n - 1 - alike]) == rank(pile[n - 1]):
        alike += 1
    return alike


@plain
def is_run(pile, first, n):
    """Whether the cards from ``first`` on make a run in any order: no two of a rank, no gap."""
    lowest, highest = 13, -1
    for k in range(first, n):
        for j in range(first, k):
            if rank(pile[j]) == rank(pile[k]):
                return False
        lowest, highest = min(lowest, rank(pile[k])), max(highest, rank(pile[k]))
    return highest - lowest == n - first - 1


@plain
def length_of_run(pile, n):
    """The longest run, three or more, that the last of n cards make; 0 if there is none."""
    for first in range(n - 2):
        if is_run(pile, first, n):
            return n - first
    return 0


@plain
def peg_for_card(t, player):
    """What the card just laid earns; True when it wins the game."""
    pile, n = t["pile"], how_many(t["pile"])
    if count(t) == 15 and peg(t, player, 2, FIFTEEN):
        return True
    if count(t) == 31 and peg(t, player, 2, THIRTY_ONE):
        return True
    alike = how_many_alike(pile, n)
    if alike == 2 and peg(t, player, 2, PAIR):
        return True
    if alike == 3 and peg(t, player, 6, THREE):
        return True
    if alike == 4 and peg(t, player, 12, FOUR):
        return True
    length = length_of_run(pile, n)
    return length > 0 and peg(t, player, length, RUN)


@plain
def lay(t, card):
    player, opponent = t["turn"], 1 - t["turn"]
    add(t["laid"], card)
    add(t["laid_by"], player)
    add(t["pile"], card)
    if peg_for_card(t, player):
        return

    # The opponent is asked for a card, then the player, and so on, until one can lay or both have said go.
    asked = opponent
    while not (t["said_go"][0] and t["said_go"][1]):
        if not t["said_go"][asked] and can_lay(t, asked):
            t["turn"] = asked
            return
        t["said_go"][asked] = 1
        asked = 1 - asked

    # Both have said go: one for the last card of the count, unless it made 31, which has been paid.
    no_cards_left = how_many(t["hands"][0]) == 0 and how_many(t["hands"][1]) == 0
    if count(t) != 31 and peg(t, player, 1, LAST_CARD if no_cards_left else GO):
        return
    t["pile"][:] = NO_CARD
    t["said_go"][:] = 0
    if no_cards_left:
        show(t)
    else:
        t["turn"] = opponent if how_many(t["hands"][opponent]) > 0 else player


@plain
def show(t):
    """Pone's hand, dealer's hand, crib. Whoever reaches 121 first has won, and the rest is not counted."""
    if t["episode"] == PLAY_ALONE or t["episode"] == PEGGING_ALONE:
        t["phase"] = OVER
        return
    pone, dealer = 1 - t["dealer"], t["dealer"]
    five = np.empty(5, np.int64)
    five[4] = t["starter"]
    five[:4] = t["kept"][pone]
    if peg(t, pone, show_points(five, False), PONES_HAND):
        return
    five[:4] = t["kept"][dealer]
    if peg(t, dealer, show_points(five, False), DEALERS_HAND):
        return
    five[:2], five[2:4] = t["discards"][0], t["discards"][1]
    if peg(t, dealer, show_points(five, True), CRIB):
        return
    t["phase"] = AWAITING_DEAL if t["episode"] == WHOLE_GAME else OVER


@plain
def match_points(t):
    """ACC match points of the winner of a game won at 121: two, or three when the loser has 90 or less."""
    return 3 if min(t["scores"][0], t["scores"][1]) <= 90 else 2
