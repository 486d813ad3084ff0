"""Points of hands and cards: every hand against known figures and the reference, the play, and bad input."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crib_env
from crib_env.cards import RANKS, SUITS, format_card, format_cards, parse_card, parse_cards
from crib_env.kernels import bit, kernel
from crib_env.scoring import COUNT_LIMIT, card_value, explain_show, fill_next_points, pile_points, show_points
from tests.helpers import reference
from tests.helpers.engine_calls import compiled
from tests.helpers.refusals import refused

# design 2.6: all 12,994,800 choices of four cards and a starter. 19, 25, 26 and 27 are impossible.
HAND_HISTOGRAM = {
    0: 1_009_008, 1: 99_792, 2: 2_813_796, 3: 505_008, 4: 2_855_676, 5: 697_508, 6: 1_800_268, 7: 751_324,
    8: 1_137_236, 9: 361_224, 10: 388_740, 11: 51_680, 12: 317_340, 13: 19_656, 14: 90_100, 15: 9_168, 16: 58_248,
    17: 11_196, 18: 2_708, 20: 8_068, 21: 2_496, 22: 444, 23: 356, 24: 3_680, 28: 76, 29: 4,
}  # fmt: skip
CRIB_ZEROS, CRIB_MEAN = 1_022_208, 4.734819

five_cards = st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True)
# Low cards, so that piles grow long before the count passes 31.
piles = st.lists(st.integers(0, 51), min_size=1, max_size=13, unique=True) | st.lists(
    st.sampled_from([card for card in range(52) if card % 13 < 6]), min_size=1, max_size=13, unique=True
)


@compiled
def histogram(crib):
    counts = np.zeros(30, np.int64)
    for a in range(52):
        for b in range(a + 1, 52):
            for c in range(b + 1, 52):
                for d in range(c + 1, 52):
                    hand = bit(a) | bit(b) | bit(c) | bit(d)
                    for starter in range(52):
                        if not (hand >> starter) & 1:
                            counts[show_points(hand, starter, crib)] += 1
    return counts


@compiled
def one_hand_of_each_class(hands, starters):
    """One of all hands that differ only by a change of suits: starter a club, other suits in falling order of cards.

    Gives the number of classes and of all the hands that they stand for.
    """
    n, n_hands = 0, 0
    for a in range(52):
        for b in range(a + 1, 52):
            for c in range(b + 1, 52):
                for d in range(c + 1, 52):
                    hand = bit(a) | bit(b) | bit(c) | bit(d)
                    diamonds, hearts, spades = (hand >> 13) & 8191, (hand >> 26) & 8191, hand >> 39
                    if diamonds >= hearts >= spades:
                        orders = 6 if diamonds > hearts > spades else 1 if diamonds == spades else 3
                        for starter in range(13):
                            if not (hand >> starter) & 1:
                                hands[n, 0], hands[n, 1], hands[n, 2], hands[n, 3] = a, b, c, d
                                starters[n] = starter
                                n += 1
                                n_hands += 4 * orders
    return n, n_hands


@compiled
def hands_that_change_with_their_suits(crib):
    """How many of all hands score differently when two neighbouring suits change places."""
    n = 0
    suits = np.empty(4, np.int64)
    for a in range(52):
        for b in range(a + 1, 52):
            for c in range(b + 1, 52):
                for d in range(c + 1, 52):
                    hand = bit(a) | bit(b) | bit(c) | bit(d)
                    for swap in range(3):
                        for suit in range(4):
                            suits[suit] = suit
                        suits[swap], suits[swap + 1] = swap + 1, swap
                        swapped = np.int64(0)
                        for suit in range(4):
                            swapped |= ((hand >> (13 * suit)) & 8191) << (13 * suits[suit])
                        for starter in range(52):
                            if not (hand >> starter) & 1:
                                cut = 13 * suits[starter // 13] + starter % 13
                                n += show_points(hand, starter, crib) != show_points(swapped, cut, crib)
    return n


def test_histogram_of_all_hands():
    counts = histogram(False)
    assert {points: n for points, n in enumerate(counts.tolist()) if n} == HAND_HISTOGRAM
    assert counts.sum() == 12_994_800


def test_histogram_of_all_cribs():
    counts = histogram(True)
    assert counts.sum() == 12_994_800
    assert counts[0] == CRIB_ZEROS
    assert round(float(counts @ np.arange(30) / counts.sum()), 6) == CRIB_MEAN
    # A crib differs from a hand by the flush of four alone, so the totals differ by 4 for each of those hands.
    flushes_of_four = 4 * 715 * 39
    in_hands = sum(points * n for points, n in HAND_HISTOGRAM.items())
    assert in_hands - counts @ np.arange(30) == 4 * flushes_of_four


@pytest.mark.parametrize("crib", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_suits_are_interchangeable(crib):
    assert hands_that_change_with_their_suits(crib) == 0


@pytest.mark.parametrize("crib", [False, True])
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_all_hands_against_the_reference(crib, step):
    """Suits are interchangeable, so one hand of each class stands for all 12,994,800; some or all of the classes."""
    hands, starters = np.zeros((660_000, 4), np.int64), np.zeros(660_000, np.int64)
    n, n_hands = one_hand_of_each_class(hands, starters)
    assert (n, n_hands) == (652_353, 12_994_800)
    hands, starters = hands[:n:step], starters[:n:step]
    points = crib_env.score_show_many(hands, starters, crib)
    expected = [reference.score_show(hand, cut, crib) for hand, cut in zip(hands.tolist(), starters.tolist())]
    np.testing.assert_array_equal(points, expected)


def test_score_show_is_score_show_many():
    rng = np.random.default_rng(0)
    cards = np.array([rng.choice(52, 5, replace=False) for _ in range(500)])
    cribs = rng.random(500) < 0.5
    many = crib_env.score_show_many(cards[:, :4], cards[:, 4], cribs)
    assert many.dtype == np.uint8
    assert many.tolist() == [crib_env.score_show(row[:4], row[4], crib=crib) for row, crib in zip(cards, cribs)]


@pytest.mark.parametrize(
    ("hand", "starter", "points", "crib_points"),
    [
        ("5C 5H 5S JD", "5D", 29, 29),
        ("5C 5H 5S 5D", "JD", 28, 28),  # the jack is the starter: heels when it was cut, never nobs
        ("4C 5H 5S 6D", "5C", 23, 23),
        ("7C 7D 8H 8S", "9C", 24, 24),  # four fifteens 8, two pairs 4, four runs of three 12
        ("AC 2C 3C 4C", "KD", 12, 8),  # two fifteens 4, run of four 4; the flush counts in the hand only
        ("2C 4C 6C 8C", "TC", 5, 5),  # flush of five counts in both
        ("2C 4C 6C 8C", "TD", 4, 0),
        ("2C 4C 6C TD", "8C", 0, 0),  # four of a suit with the starter's help are no flush
        ("QC KC AD 2D", "3H", 7, 7),  # two fifteens 4, A 2 3; no run goes round the corner
        ("TC JC QD KD", "9H", 5, 5),  # a run of five is not two runs of four as well
        ("JC 2D 4D 6H", "8C", 1, 1),  # nobs
        ("JC 2D 4D 6H", "8S", 0, 0),
    ],
)
def test_known_hands(hand, starter, points, crib_points):
    assert crib_env.score_show(hand, starter) == points
    assert crib_env.score_show(hand, starter, crib=True) == crib_points


@settings(deadline=None)
@given(five_cards, st.booleans())
def test_the_items_of_a_breakdown_add_up(cards, crib):
    items = explain_show(cards[:4], cards[4], crib=crib)
    assert sum(item.points for item in items) == crib_env.score_show(cards[:4], cards[4], crib=crib)
    assert all(set(item.cards) <= set(cards) for item in items)


def kinds(hand, starter, **crib):
    return [(item.kind, item.points, format_cards(item.cards)) for item in explain_show(hand, starter, **crib)]


def test_a_breakdown_names_its_cards():
    assert kinds("5H TC KD JD", "7D") == [
        ("fifteen", 2, "5H TC"),
        ("fifteen", 2, "5H JD"),
        ("fifteen", 2, "5H KD"),
        ("his nobs", 1, "JD"),
    ]
    assert kinds("3C 3D 4H 5S", "5D") == [
        ("fifteen", 2, "3C 3D 4H 5D"),
        ("fifteen", 2, "3C 3D 4H 5S"),
        ("pair", 2, "3C 3D"),
        ("pair", 2, "5D 5S"),
        ("run of 3", 3, "3C 4H 5D"),
        ("run of 3", 3, "3C 4H 5S"),
        ("run of 3", 3, "3D 4H 5D"),
        ("run of 3", 3, "3D 4H 5S"),
    ]
    assert kinds("2C 4C 6C 8C", "TD") == [("flush", 4, "2C 4C 6C 8C")]
    assert kinds("2C 4C 6C 8C", "TD", crib=True) == []
    assert kinds("2C 4C 6C 8C", "TC", crib=True) == [("flush", 5, "2C 4C 6C 8C TC")]
    assert ("three of a kind", 6, "9C 9D 9H") in kinds("9C 9D 9H KS", "AD")
    assert ("four of a kind", 12, "9C 9D 9H 9S") in kinds("9C 9D 9H 9S", "AD")


@pytest.mark.parametrize(
    ("hand", "starter", "text"),
    [
        (
            "5H TC KD JD",
            "7D",
            "fifteen-two (5H TC), fifteen-four (5H JD), fifteen-six (5H KD) and his nobs (JD): 7",
        ),
        ("2C 4C 6C 8C", "TD", "flush for 4 (2C 4C 6C 8C): 4"),
        ("2C 4C 6C TD", "8C", "nothing: 0"),
        ("AC 2C 3D KD", "QH", "fifteen-two (2C 3D QH), fifteen-four (2C 3D KD) and run of 3 for 7 (AC 2C 3D): 7"),
    ],
)
def test_a_hand_counted_aloud(hand, starter, text):
    assert crib_env.describe_show(hand, starter) == text


@settings(deadline=None, max_examples=500)
@given(piles)
def test_the_play_against_the_reference(pile):
    while sum(reference.value(card) for card in pile) > 31:
        pile.pop()
    assert crib_env.score_play(pile) == sum(points for points, _ in reference.score_play(pile))


@pytest.mark.parametrize(
    ("pile", "points"),
    [
        ("5C", 0),
        ("5C TD", 2),
        ("TC TD", 2),
        ("TC TD TH", 6),
        ("7C 7D 7H 7S", 12),
        ("5C 5D 5H", 8),  # 15 and three of a kind
        ("TC TD 5H 6S", 2),  # 31 is two; go is not in it
        ("4C 6D 5H", 5),  # 15 and a run, in any order
        ("JC 4C 5C 4D 3D", 3),
        ("4C 5C 3D 4D", 3),  # the last three make the run; the first 4 stands outside it
        ("3C 5D 4C 6D 2C AD 7C", 7),
        ("QC KC AC", 0),
        ("8C 8D 2H 8S", 0),  # not in a row
        ("AC AD AH AS 2C 2D 2H 2S 3C 3D 3H 3S 4C", 0),
    ],
)
def test_known_piles(pile, points):
    assert crib_env.score_play(pile) == points


def test_card_text_round_trip():
    for card in range(52):
        text = RANKS[card % 13] + SUITS[card // 13]
        assert format_card(card) == text
        assert parse_card(text) == parse_card(text.lower()) == parse_card(card) == parse_card(np.int8(card)) == card


def test_cards_may_stand_in_one_text_or_in_a_list():
    assert parse_cards("5H 5C,JD") == parse_cards(["5H", "5c", 23]) == [30, 4, 23]
    assert parse_cards("5h5Cjd") == parse_cards("5H5C JD") == [30, 4, 23]
    assert parse_cards("10dTCac") == [22, 9, 0]


BAD_CARDS = ["", "5", "5X", "1H", "11H", "5H5", -1, 52, 200, 10**30, 5.0, None, True, np.True_, float("nan")]


@pytest.mark.parametrize("bad", BAD_CARDS, ids=repr)
def test_values_that_are_not_cards_are_named(bad):
    for call in (
        lambda: parse_card(bad),
        lambda: parse_cards(["AC", bad]),
        lambda: crib_env.score_show(["AC", "2C", "3C", bad], "KD"),
        lambda: crib_env.score_show("AC 2C 3C 4C", bad),
        lambda: crib_env.score_play(["AC", bad]),
    ):
        with refused(repr(bad)):
            call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parse_cards("5H 6D 5h"), "5H is given twice"),
        (lambda: parse_cards("5H6D5h"), "5H is given twice"),
        (lambda: parse_cards("5H6D5x"), "'5H6D5x' is not a card"),
        (lambda: crib_env.score_show("5H 6D 5H 7C", "KD"), "5H is given twice"),
        (lambda: crib_env.score_show("5H 6D 8H 7C", "8h"), "8H is given twice"),
        (lambda: crib_env.score_play("5H 5H"), "5H is given twice"),
        (lambda: crib_env.score_show("5H 6D 7C", "KD"), "not 3: 5H 6D 7C"),
        (lambda: crib_env.score_show("5H 6D 7C 8C 9C", "KD"), "not 5: 5H 6D 7C 8C 9C"),
        (lambda: crib_env.score_show("", "KD"), "not 0: none"),
        (lambda: crib_env.score_play(""), "empty pile"),
        (lambda: crib_env.score_play("TC JC KC 2D"), "2D takes the count to 32"),
        (lambda: crib_env.explain_show("5H 6D 5H 7C", "KD"), "5H is given twice"),
        (lambda: crib_env.describe_show("5H 6D 7C", "KD"), "not 3"),
    ],
)
def test_duplicates_and_wrong_lengths_are_named(call, message):
    with refused(message):
        call()


GOOD_ROW, GOOD_STARTER = [0, 1, 2, 3], 4


@pytest.mark.parametrize(
    ("row", "starter", "message"),
    [
        ([0, 1, 2, 52], 4, "row 1: 52 is not a card"),
        ([0, 1, 2, -1], 4, "row 1: -1 is not a card"),
        ([0, 1, 2, 3], 52, "row 1: 52 is not a card"),
        ([0, 1, 2, 3], -1, "row 1: -1 is not a card"),
        ([0, 1, 2, 64], 4, "row 1: 64 is not a card"),  # a shift by 64 would be a shift by 0
        ([0, 1, 30, 30], 4, "row 1: 5H is given twice"),
        ([0, 1, 2, 30], 30, "row 1: 5H is given twice"),
    ],
)
def test_a_bad_row_of_many_is_named(row, starter, message):
    with refused(message):
        crib_env.score_show_many([GOOD_ROW, row], [GOOD_STARTER, starter])


BAD_IDS = {
    np.uint8: (200, 255), np.uint16: (256 + 9, 65_535), np.int32: (256 + 9,), np.int64: (2**32 + 9,),
    np.uint64: (2**63 + 9, 2**64 - 1),
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "bad"), [(dtype, bad) for dtype, several in BAD_IDS.items() for bad in several])
def test_large_ids_do_not_wrap_into_cards(dtype, bad):
    good = np.array(GOOD_ROW, dtype)
    with refused(bad):
        crib_env.score_show_many(np.array([[0, 1, 2, bad]], dtype), np.array([GOOD_STARTER], dtype))
    with refused(bad):
        crib_env.score_show_many(good[None], np.array([bad], dtype))
    with refused(bad):
        crib_env.score_show(np.array([0, 1, 2, bad], dtype), GOOD_STARTER)


BAD_ARRAYS = [
    ([[0, 1, 2]], [4], False), ([0, 1, 2, 3], [4], False), ([[0, 1, 2, 3]], [4, 5], False), ([[0, 1, 2, 3]], 4, False),
    ([[0.0, 1.0, 2.0, 3.0]], [4], False), ([[0, 1, 2, 3]], [4.0], False), ([["5H", "6H", "7H", "8H"]], ["9H"], False),
    ([[0, 1, 2, 3]], [4], [True, False]),
]  # fmt: skip


@pytest.mark.parametrize(("hands", "starters", "crib"), BAD_ARRAYS)
def test_wrong_shapes_and_kinds_of_arrays(hands, starters, crib):
    with pytest.raises(ValueError, match=r"must be"):
        crib_env.score_show_many(hands, starters, crib)


def test_every_combination_of_ranks_adds_up():
    """All 6,175 ways to have five ranks, not just likely ones."""
    n = 0
    for ranks in combinations_with_replacement(range(13), 5):
        if any(ranks.count(rank) == 5 for rank in ranks):
            continue
        cards = [rank + 13 * ranks[:i].count(rank) for i, rank in enumerate(ranks)]
        n += 1
        for crib in (False, True):
            total = sum(item.points for item in explain_show(cards[:4], cards[4], crib=crib))
            assert total == reference.score_show(cards[:4], cards[4], crib), format_cards(cards)
    assert n == 6175


# What a next card of each rank earns, all ranks at once, is what the last card of a pile earns.


@kernel
def _one_by_one(pile, n, count, points):
    for rank in range(13):
        pile[n] = rank
        now = count + card_value(rank)
        points[rank] = pile_points(pile, 0, n + 1, now) if now <= COUNT_LIMIT else -1


def test_all_ranks_at_once():
    """After random piles; low cards come often, so that runs of up to seven and four of a kind are among them."""
    rng, longest, most = np.random.default_rng(0), 0, 0
    for _ in range(20_000):
        pile, n, count = rng.integers(rng.choice([4, 7, 13]), size=9), 0, 0
        while n < 7 and count + min(pile[n] + 1, 10) <= COUNT_LIMIT and rng.random() < 0.9:
            count += min(int(pile[n]) + 1, 10)
            n += 1
        found, expected = np.zeros(13, np.int64), np.zeros(13, np.int64)
        fill_next_points(pile, 0, n, count, found)
        _one_by_one(pile, n, count, expected)
        assert found.tolist() == expected.tolist()
        longest, most = max(longest, n), max(most, int(found.max()))
    assert longest == 7
    assert most >= 12
