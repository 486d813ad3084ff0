"""Exact statistics of all fifteen discards: the hand over its 46 starters, the crib over its 45,540 completions.

Nothing is sampled. The crib's distribution starts from the rank points (fifteens, pairs, runs), which depend only on
the ranks of the other three cards. It then moves the completions in which his nobs or a flush adds points.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from crib_env.cards import JACK, Card, parse_cards
from crib_env.exact.discard_means import COMPLETIONS, STARTERS, THREE_CARDS, crib_total
from crib_env.hands import PAIR_NUMBER
from crib_env.kernels import bit, kernel, mask_of
from crib_env.scoring import SUIT, add_rank, rank_points

N_DISCARDS = 15
N_POINTS = 30  # scores run from 0 to 29

# What is computed and kept: whole numbers, over 46 starters and over 45,540 completions.
TOTALS = np.dtype(
    [
        ("crib_total", "u4"),
        ("hand_total", "u2"),
        ("hand_squares", "u2"),  # sum of squared points
        ("hand_min", "u1"),
        ("hand_max", "u1"),
        ("hand_twice_median", "u1"),
        ("reserved", "u1"),
    ]
)
STATISTICS = np.dtype(
    [
        ("discard", "i1", 2),
        ("hand_min", "i1"),
        ("hand_mean", "f8"),
        ("hand_median", "f8"),
        ("hand_max", "i1"),
        ("hand_std", "f8"),
        ("crib_mean", "f8"),
    ]
)
# The fifteen discards of six sorted cards, by place.
PLACES = np.array([(i, j) for i in range(6) for j in range(i + 1, 6)])
PLACE_OF = np.full((6, 6), -1)
"""(6, 6): the number of a discard among :data:`PLACES`, by the places of its two cards in either order."""
PLACE_OF[PLACES[:, 0], PLACES[:, 1]] = PLACE_OF[PLACES[:, 1], PLACES[:, 0]] = np.arange(N_DISCARDS)


@kernel
def hand_counts(kept, six, counts):
    """Adds one to ``counts[points]`` for each of the 46 starters of the four ``kept`` cards of ``six`` (masks)."""
    ranks, sums = np.int64(0), np.int64(1)
    for card in range(52):
        if (kept >> card) & 1:
            ranks, sums = add_rank(ranks, sums, card % 13)
    for rank in range(13):
        more_ranks, more_sums = add_rank(ranks, sums, rank)
        points = rank_points(more_ranks, more_sums)
        for suit in range(4):
            if not (six >> (13 * suit + rank)) & 1:
                counts[points + _suit_points(kept, suit)] += 1


@kernel
def _suit_points(kept, suit):
    """Points of a hand for flush and his nobs with a starter of ``suit``."""
    points = (kept >> (13 * suit + JACK)) & 1
    for flush in range(4):
        if kept & (SUIT << (13 * flush)) == kept:
            points += 5 if flush == suit else 4
    return points


@kernel
def crib_counts(i, j, cards, counts):
    """Adds up, over all completions, ``counts[points]`` of a crib with ``cards[i]`` and ``cards[j]`` of six ids."""
    first, second = cards[i], cards[j]
    three = THREE_CARDS[PAIR_NUMBER[first % 13, second % 13]]
    seen = mask_of(cards)
    unseen = np.empty(13, np.int64)
    for rank in range(13):
        unseen[rank] = 4
        for suit in range(4):
            unseen[rank] -= (seen >> (13 * suit + rank)) & 1

    # Ranks alone: three more cards, each of which may be the starter.
    for r in range(13):
        n = unseen[r]
        _add(counts, three[r, r, r], 3 * (n * (n - 1) * (n - 2) // 6))
        for s in range(13):
            if s != r:
                _add(counts, three[r, r, s], 3 * (n * (n - 1) // 2) * unseen[s])
        for s in range(r):
            for t in range(s):
                _add(counts, three[r, s, t], 3 * n * unseen[s] * unseen[t])

    # His nobs adds one: for each starter, the completions that hold the jack of its suit.
    for suit in range(4):
        jack = 13 * suit + JACK
        own_jack = jack in (first, second)
        if not own_jack and (seen >> jack) & 1:
            continue  # the jack is kept in the hand
        for cut in range(13):
            if (seen >> (13 * suit + cut)) & 1 or cut == JACK:
                continue
            unseen[cut] -= 1
            if own_jack:  # any two of the other 45
                for s in range(13):
                    for t in range(s + 1):
                        ways = unseen[s] * (unseen[s] - 1) // 2 if s == t else unseen[s] * unseen[t]
                        _move(counts, three[cut, s, t], 1, ways)
            else:  # the opponent discards the jack and any other
                unseen[JACK] -= 1
                for s in range(13):
                    _move(counts, three[cut, JACK, s], 1, unseen[s])
                unseen[JACK] += 1
            unseen[cut] += 1

    # A flush of five adds five, whichever of the three others is the starter.
    suit = first // 13
    if second // 13 != suit:
        return
    for r in range(13):
        for s in range(r):
            for t in range(s):
                if ((seen >> (13 * suit + r)) | (seen >> (13 * suit + s)) | (seen >> (13 * suit + t))) & 1:
                    continue
                points = three[r, s, t]
                if first % 13 == JACK or second % 13 == JACK:
                    _move(counts, points + 1, 5, 3)
                elif JACK in (r, s, t):  # nobs unless the jack itself is cut
                    _move(counts, points + 1, 5, 2)
                    _move(counts, points, 5, 1)
                else:
                    _move(counts, points, 5, 3)


@kernel
def _add(counts, points, ways):
    """Adds ``ways`` completions. Five cards of a rank have no ways, and their points have no place in ``counts``."""
    if ways:
        counts[points] += ways


@kernel
def _move(counts, points, by, ways):
    """Moves ``ways`` completions from ``points`` to ``points + by``."""
    _add(counts, points, -ways)
    _add(counts, points + by, ways)


@kernel
def fill_totals(hands, out):
    """Fills ``out`` (N, 15) of ``TOTALS`` for sorted hands (N, 6) of int64 ids."""
    counts = np.empty(N_POINTS, np.int64)
    for n in range(len(hands)):
        cards = hands[n]
        six = mask_of(cards)
        k = 0
        for i in range(6):
            for j in range(i + 1, 6):
                counts[:] = 0
                hand_counts(six ^ bit(cards[i]) ^ bit(cards[j]), six, counts)
                _summarise(counts, out[n, k])
                out[n, k]["crib_total"] = crib_total(cards[i], cards[j], cards)
                k += 1


@kernel
def _summarise(counts, row):
    """Sums, minimum, maximum and twice the median of 46 scores."""
    total, squares, below = 0, 0, 0
    low, high, middle = -1, 0, 0
    for points in range(N_POINTS):
        ways = counts[points]
        if ways:
            if low < 0:
                low = points
            high = points
            total += ways * points
            squares += ways * points * points
            for place in (22, 23):  # the two in the middle of 46
                if below <= place < below + ways:
                    middle += points
            below += ways
    row["hand_total"], row["hand_squares"] = total, squares
    row["hand_min"], row["hand_max"], row["hand_twice_median"] = low, high, middle


def to_statistics(totals: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """``TOTALS`` (N, 15) of sorted hands (N, 6) as ``STATISTICS``."""
    out = np.empty(totals.shape, STATISTICS)
    mean = totals["hand_total"] / STARTERS
    out["discard"] = cards[:, PLACES]
    out["hand_min"], out["hand_max"] = totals["hand_min"], totals["hand_max"]
    out["hand_mean"], out["hand_median"] = mean, totals["hand_twice_median"] / 2
    out["hand_std"] = np.sqrt(totals["hand_squares"] / STARTERS - mean**2)
    out["crib_mean"] = totals["crib_total"] / COMPLETIONS
    return out


@kernel
def _fill_counts(hands, of_crib, out):
    for n in range(len(hands)):
        cards, six = hands[n], mask_of(hands[n])
        for k in range(N_DISCARDS):
            i, j = PLACES[k, 0], PLACES[k, 1]
            if of_crib:
                crib_counts(i, j, cards, out[n, k])
            else:
                hand_counts(six ^ bit(cards[i]) ^ bit(cards[j]), six, out[n, k])


def _counts(hands: ArrayLike | str, of_crib: bool) -> np.ndarray:
    cards = six_cards(hands)
    out = np.zeros((len(cards), N_DISCARDS, N_POINTS), np.int64)
    _fill_counts(cards, of_crib, out)
    return out


def one_hand(cards: str | Iterable[Card]) -> list[int]:
    """The ids of six different cards, given as text or one by one.

    Raises:
        ValueError: there are not six, or one is not a card or is repeated; the message names it.
    """
    found = parse_cards(cards)
    if len(found) != 6:
        raise ValueError(f"six cards are needed, not {len(found)}")
    return found


def six_cards(hands: ArrayLike | str) -> np.ndarray:
    """(N, 6) int64, each row sorted, from hands of ids or of text, or from one hand as text.

    Raises:
        ValueError: the shape is wrong, the values are neither integers nor text, or a hand has a bad or repeated card;
            the message names hand and card.
    """

    def nth(n: int, hand: str | Iterable[Card]) -> list[int]:
        try:
            return one_hand(hand)
        except ValueError as error:
            raise ValueError(f"hand {n}: {error}") from None

    cards = np.asarray([hands] if isinstance(hands, str) else hands)
    if cards.dtype.kind == "U" and cards.ndim:
        cards = np.array([nth(n, hand) for n, hand in enumerate(cards.tolist())], np.int64)
    if cards.size == 0:
        cards = cards.reshape(0, 6).astype(np.int64)
    if cards.ndim != 2 or cards.shape[1] != 6:
        raise ValueError(f"hands must be (N, 6), or hands of six cards as text, not {cards.shape}")
    if cards.dtype.kind not in "iu":
        raise ValueError(f"hands must be integer card ids or text, not {cards.dtype}")
    cards = np.sort(cards.astype(np.int64), axis=1)
    is_bad = (cards[:, 0] < 0) | (cards[:, -1] > 51) | (np.diff(cards, axis=1) == 0).any(axis=1)
    for bad in is_bad.nonzero()[0][:1].tolist():
        nth(bad, cards[bad].tolist())  # says what is wrong
    return cards


def discard_statistics(hands: ArrayLike | str) -> np.ndarray:
    """Exact statistics of the fifteen discards of six-card hands.

    Args:
        hands: (N, 6) card ids, a hand as text such as ``"5H 5C JD QS 2H 3D"``, or N of these.

    Returns:
        (N, 15) of dtype ``STATISTICS``, discards in the order of their ids: ``discard`` (two ids); ``hand_min``,
        ``hand_mean``, ``hand_median``, ``hand_max`` and ``hand_std`` of the four kept over the 46 starters (the
        deviation of that whole distribution, not an estimate); ``crib_mean`` over all ways in which two opposing cards
        and a starter come from the 46 unseen cards.

    Raises:
        ValueError: the shape is wrong, the values are neither integers nor text, or a hand has a bad or repeated card;
            the message names hand and card.
    """
    cards = six_cards(hands)
    totals = np.zeros((len(cards), N_DISCARDS), TOTALS)
    fill_totals(cards, totals)
    return to_statistics(totals, cards)


def hand_distribution(hands: ArrayLike | str) -> np.ndarray:
    """How many of the 46 starters give each of the fifteen hands kept 0 … 29 points.

    Arguments, order and errors as in :func:`discard_statistics`; (N, 15, 30) int64.
    """
    return _counts(hands, of_crib=False)


def crib_distribution(hands: ArrayLike | str) -> np.ndarray:
    """In how many of the 45,540 completions each of the fifteen cribs is worth 0 … 29 points.

    Arguments, order and errors as in :func:`discard_statistics`; (N, 15, 30) int64.
    """
    return _counts(hands, of_crib=True)
