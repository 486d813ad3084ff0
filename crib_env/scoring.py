"""Counting: the show, the play, and a breakdown of a hand for people.

The rules are those of the American Cribbage Congress. Kernels take masks and ids without checks; the public functions
check their arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import ArrayLike

from crib_env.cards import JACK, Card, format_card, format_cards, parse_card, parse_cards
from crib_env.kernels import kernel, lowest, popcount

COUNT_LIMIT = 31  # the count of the play cannot go above it
SUIT = np.int64(0x1FFF)  # the thirteen cards of suit 0; shift by 13 * suit for the others
_ONES = 0x1111111111111  # one bit for each of thirteen ranks, four bits apart


@register_jitable  # for kernels and for plain Python alike
def card_value(rank):
    """What a card of a rank counts in fifteens and in the play: an ace 1, ten and court cards 10."""
    return min(rank + 1, 10)


@kernel
def add_rank(counts, sums, rank):
    """Adds a card to the two packed numbers that ``rank_points`` reads.

    ``counts`` holds, four bits to a rank, how many cards of it there are. ``sums`` holds, four bits to a total from
    0 to 15, how many subsets of the cards reach it (start with 1: the empty set reaches 0). A new card of value v
    doubles the subsets: those that reached t also reach t + v. Five cards never reach a total more than 15 ways.
    """
    value = card_value(rank)
    return counts + (np.int64(1) << (4 * rank)), sums + (sums << (4 * value))


@kernel
def rank_points(counts, sums):
    """Points of up to five cards for fifteens, pairs and runs, which do not depend on suits."""
    points = 2 * ((sums >> 60) & 15)  # fifteens
    one, two, four = counts & _ONES, (counts >> 1) & _ONES, (counts >> 2) & _ONES
    # pairs: n cards of a rank are n * (n - 1) points: 2, 6, 12 for two, three, four
    points += 2 * popcount(two) + 4 * popcount(one & two) + 12 * popcount(four)
    held = one | two | four
    run = held & (held >> 4) & (held >> 8)  # ranks at which three in a row begin
    run |= (run << 4) | (run << 8)  # now every rank in it: five cards hold one run at most
    # ways to make it: twice for each rank held twice (two of those: four times), three times for one held three times
    return points + popcount(run) * ((1 << popcount(two & run)) + popcount(one & two & run))


@kernel
def show_points(hand, starter, crib):
    """Points in the show of ``hand`` (a mask of four cards) with the starter's id."""
    counts, sums = add_rank(np.int64(0), np.int64(1), starter % 13)
    rest = hand
    for _ in range(4):
        counts, sums = add_rank(counts, sums, lowest(rest) % 13)
        rest &= rest - 1
    points = rank_points(counts, sums)
    # Flush: four in the hand (never in the crib) without the starter's help, five with it in either.
    suit = 13 * (lowest(hand) // 13)
    if hand & (SUIT << suit) == hand:
        if starter // 13 * 13 == suit:
            points += 5
        elif not crib:
            points += 4
    # His nobs: the jack of the starter's suit in hand or crib. (A starter jack is his heels, never nobs.)
    if (hand >> (starter // 13 * 13 + JACK)) & 1:
        points += 1
    return points


@kernel
def same_rank_points(laid, start, end):
    """Points that the last of ``laid[start:end]`` earns for a pair (2), three (6) or four of a kind (12)."""
    rank, same = laid[end - 1] % 13, 1
    while end - 1 - same >= start and laid[end - 1 - same] % 13 == rank:
        same += 1
    return same * (same - 1)


@kernel
def run_points(laid, start, end):
    """Length of the longest run, in any order, that ends with the last of ``laid[start:end]``; 0 below three."""
    seen, low, high, best = np.int64(0), 13, -1, 0
    for k in range(end - 1, start - 1, -1):
        rank = laid[k] % 13
        if (seen >> rank) & 1:
            break  # a rank twice: no longer window can be a run
        seen |= np.int64(1) << rank
        low, high = min(low, rank), max(high, rank)
        length = end - k
        if length >= 3 and high - low == length - 1:
            best = length
    return best


@kernel
def pile_points(laid, start, end, count):
    """All points that the last of ``laid[start:end]`` earns at once; ``count`` includes it. Go is not counted."""
    points = 2 if count in (15, COUNT_LIMIT) else 0
    return points + same_rank_points(laid, start, end) + run_points(laid, start, end)


@kernel
def fill_next_points(laid, start, end, count, points):
    """Fills ``points`` (13,) with what a next card of each rank earns after ``laid[start:end]`` with this count.

    It is :func:`pile_points` of all ranks at once, in the time of two calls; -1 for a rank that does not fit.
    """
    for rank in range(13):
        now = count + card_value(rank)
        points[rank] = -1 if now > COUNT_LIMIT else 2 if now in (15, COUNT_LIMIT) else 0
    if end == start:
        return
    latest, same = laid[end - 1] % 13, 1
    while end - 1 - same >= start and laid[end - 1 - same] % 13 == latest:
        same += 1
    if points[latest] >= 0:
        points[latest] += (same + 1) * same
    seen, low, high, runs = np.int64(0), np.int64(13), np.int64(-1), np.int64(0)  # four bits for each rank's run
    for k in range(end - 1, start - 1, -1):
        rank = np.int64(laid[k] % 13)
        if (seen >> rank) & 1:
            break
        seen |= np.int64(1) << rank
        low, high, length = min(low, rank), max(high, rank), np.int64(end - k)
        if length == 1:
            continue
        if high - low == length - 1:  # these cards are a run: the next may lengthen it at either end
            if low > 0:
                runs = _with_run(runs, low - 1, length + 1)
            if high < 12:
                runs = _with_run(runs, high + 1, length + 1)
        elif high - low == length:  # one rank is missing in between
            missing = low + 1
            while (seen >> missing) & 1:
                missing += 1
            runs = _with_run(runs, missing, length + 1)
    while runs:
        rank = lowest(runs) // 4
        if points[rank] >= 0:
            points[rank] += (runs >> (4 * rank)) & 15
        runs &= ~(np.int64(15) << (4 * rank))


@kernel
def _with_run(runs, rank, length):
    """The longest run so far that a card of a rank would end."""
    return runs & ~(np.int64(15) << (4 * rank)) | length << (4 * rank)


@kernel
def _score_show_many(hands, starters, cribs, points):
    """Fills ``points``; returns the index of the first row with a bad card or a duplicate, or -1."""
    for i in range(len(hands)):
        mask = np.int64(0)
        for k in range(4):
            if not 0 <= hands[i, k] < 52:
                return i
            mask |= np.int64(1) << hands[i, k]
        if not 0 <= starters[i] < 52 or popcount(mask) != 4 or (mask >> starters[i]) & 1:
            return i
        points[i] = show_points(mask, starters[i], cribs[i])
    return -1


def score_show(hand: str | Iterable[Card], starter: Card, *, crib: bool = False) -> int:
    """Points in the show of four cards and the starter, 0 to 29, for example ``score_show("5C 5H 5S JD", "5D") == 29``.

    Args:
        hand: four cards, ids or text.
        starter: the card cut, id or text.
        crib: count it as a crib, where only a five-card flush counts.

    Raises:
        ValueError: a bad card, a duplicate or not four cards; the message names the card.
    """
    cards, cut = _hand_and_starter(hand, starter)
    return int(show_points(sum(1 << card for card in cards), cut, bool(crib)))


def score_show_many(hands: ArrayLike, starters: ArrayLike, crib: ArrayLike = False) -> np.ndarray:
    """:func:`score_show` for arrays: hands (N, 4) and starters (N,) of card ids, crib one bool or (N,); (N,) uint8.

    Raises:
        ValueError: wrong shapes or types, or a row with a bad or repeated card; the message names row and cards.
    """
    four, cut = np.asarray(hands), np.asarray(starters)
    if four.size == 0:
        four = four.reshape(0, 4).astype(np.int64)
    if cut.size == 0:
        cut = cut.astype(np.int64)
    if four.ndim != 2 or four.shape[1] != 4 or cut.shape != four.shape[:1]:
        raise ValueError(f"hands must be (N, 4) and starters (N,), not {four.shape} and {cut.shape}")
    if four.dtype.kind not in "iu" or cut.dtype.kind not in "iu":
        raise ValueError(f"hands and starters must be integer card ids, not {four.dtype} and {cut.dtype}")
    try:
        cribs = np.broadcast_to(np.asarray(crib, dtype=bool), cut.shape)
    except ValueError:
        raise ValueError(f"crib must be one bool or (N,), not {np.shape(crib)}") from None
    points = np.empty(len(four), np.uint8)
    # int64 first: an unsigned id above 127 must not wrap into a card.
    bad = _score_show_many(four.astype(np.int64), cut.astype(np.int64), np.array(cribs), points)
    if bad >= 0:
        try:
            _hand_and_starter(four[bad].tolist(), cut[bad].item())
        except ValueError as error:
            raise ValueError(f"row {bad}: {error}") from None
    return points


def score_play(pile: str | Iterable[Card]) -> int:
    """The points that the last card of ``pile`` earns in the play: fifteen, thirty-one, pairs, runs.

    Args:
        pile: every card laid since the count was last zero, in order, ids or text. Go and last card are not scored.

    Raises:
        ValueError: a bad card, a duplicate, an empty pile or a count over 31; the message names the card.
    """
    cards = parse_cards(pile)
    if not cards:
        raise ValueError("an empty pile scores nothing: give at least the card that was laid")
    count = 0
    for card in cards:
        count += card_value(card % 13)
        if count > COUNT_LIMIT:
            raise ValueError(f"{format_card(card)} takes the count to {count}: the limit is {COUNT_LIMIT}")
    return int(pile_points(np.array(cards, np.int8), 0, len(cards), count))


class ShowItem(NamedTuple):
    """One line of a breakdown: a description in plain words, its points, and its cards."""

    kind: str
    points: int
    cards: tuple[int, ...]


def explain_show(hand: str | Iterable[Card], starter: Card, *, crib: bool = False) -> list[ShowItem]:
    """The breakdown of a show, in the order in which people count it; the points add up to :func:`score_show`.

    It is written for readability, not speed, and shares no code with the kernels.

    Raises:
        ValueError: as :func:`score_show`.
    """
    cards, cut = _hand_and_starter(hand, starter)
    five = sorted([*cards, cut], key=lambda card: (card % 13, card))
    subsets = [subset for size in range(2, 6) for subset in combinations(five, size)]
    items = [ShowItem("fifteen", 2, s) for s in subsets if sum(min(card % 13 + 1, 10) for card in s) == 15]

    by_rank: dict[int, tuple[int, ...]] = {}
    for card in five:
        by_rank[card % 13] = (*by_rank.get(card % 13, ()), card)
    names = {2: "pair", 3: "three of a kind", 4: "four of a kind"}
    items += [
        ShowItem(names[len(same)], len(same) * (len(same) - 1), same) for same in by_rank.values() if len(same) > 1
    ]

    def is_run(subset: Sequence[int]) -> bool:
        return [card % 13 for card in subset] == list(range(subset[0] % 13, subset[0] % 13 + len(subset)))

    longest = max((len(s) for s in subsets if len(s) >= 3 and is_run(s)), default=0)
    items += [ShowItem(f"run of {longest}", longest, s) for s in subsets if len(s) == longest and is_run(s)]

    if len({card // 13 for card in five}) == 1:
        items.append(ShowItem("flush", 5, tuple(five)))
    elif len({card // 13 for card in cards}) == 1 and not crib:
        items.append(ShowItem("flush", 4, tuple(sorted(cards))))
    nobs = 13 * (cut // 13) + JACK
    if nobs in cards:
        items.append(ShowItem("his nobs", 1, (nobs,)))
    return items


def describe_show(hand: str | Iterable[Card], starter: Card, *, crib: bool = False) -> str:
    """A show counted aloud, for example ``"fifteen-two (5H TC), fifteen-four (5H KD) and his nobs (JD): 5"``.

    Raises:
        ValueError: as :func:`score_show`.
    """
    items = explain_show(hand, starter, crib=crib)
    words = [f"{said} ({format_cards(item.cards)})" for said, item in zip(count_aloud(items), items)]
    if not words:
        return "nothing: 0"
    total = sum(item.points for item in items)
    return f"{' and '.join(filter(None, [', '.join(words[:-1]), words[-1]]))}: {total}"


def count_aloud(items: Sequence[ShowItem]) -> list[str]:
    """What a player says at each line of a breakdown, such as ``"fifteen-four"``, ``"pair for 6"``, ``"his nobs"``."""
    words, total = [], 0
    for item in items:
        total += item.points
        name = f"fifteen-{_NUMBERS[total]}" if item.kind == "fifteen" else f"{item.kind} for {total}"
        words.append(item.kind if item.kind == "his nobs" else name)
    return words


_NUMBERS = {2: "two", 4: "four", 6: "six", 8: "eight", 10: "ten", 12: "twelve", 14: "fourteen", 16: "sixteen"}


def _hand_and_starter(hand: str | Iterable[Card], starter: Card) -> tuple[list[int], int]:
    """Four checked cards and a checked starter that is not one of them."""
    cards, cut = parse_cards(hand), parse_card(starter)
    if len(cards) != 4:
        raise ValueError(f"a hand shows four cards, not {len(cards)}: {format_cards(cards) or 'none'}")
    if cut in cards:
        raise ValueError(f"{format_card(cut)} is given twice: in the hand and as the starter")
    return cards, cut
