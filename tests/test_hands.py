"""Hands of ranks by their numbers: every hand once, as masks and packed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, cards_of, class_of, class_sizes, representatives
from crib_env.hands import (
    FOUR_MASKS,
    FOUR_SIZES,
    FOURS,
    HANDS,
    N_FOURS,
    N_HANDS,
    PAIR_NUMBER,
    hand_number,
    hand_of_mask,
    packed,
)


def test_every_hand_has_one_number_and_every_number_one_hand():
    for k in range(5):
        numbers = {int(hand_number(ranks)): ranks for ranks in combinations_with_replacement(range(13), k)}
        assert sorted(numbers) == list(range(len(HANDS[k]))) == list(range(N_HANDS[k, 0]))
        assert [numbers[h] for h in range(len(HANDS[k]))] == [tuple(ranks) for ranks in HANDS[k].tolist()]
        for floor in range(13):
            assert ((HANDS[k] >= floor).all(axis=1) == (np.arange(len(HANDS[k])) < N_HANDS[k, floor])).all()
    assert N_FOURS == N_HANDS[4, 0] == 1_820
    assert (hand_number([12] * 4), hand_number([0] * 4)) == (0, 1_819)


def test_sizes_are_those_of_all_hands_of_four():
    counts = Counter(tuple(sorted(card % 13 for card in four)) for four in combinations(range(52), 4))
    assert [counts[tuple(ranks)] for ranks in FOURS.tolist()] == FOUR_SIZES.tolist()
    assert FOUR_SIZES.sum() == comb(52, 4) == 270_725


@settings(deadline=None)  # the kernel is loaded by the first example
@given(st.lists(st.integers(0, 51), min_size=4, max_size=4, unique=True))
def test_the_number_of_cards_is_that_of_their_sorted_ranks(cards):
    ranks = sorted(card % 13 for card in cards)
    number = hand_of_mask(sum(1 << card for card in cards))
    assert number == hand_number(ranks)
    assert FOURS[number].tolist() == ranks


def test_the_same_hands_as_masks_and_packed():
    for ranks, mask in zip(FOURS.tolist(), FOUR_MASKS.tolist()):
        assert sorted(card % 13 for card in range(52) if mask >> card & 1) == ranks
    assert packed(np.array([0, 2, 2, 12])) == 1 + 2 * 16**2 + 16**12


def test_pairs_of_ranks_are_numbered_in_any_order():
    for number, (low, high) in enumerate(HANDS[2].tolist()):
        assert PAIR_NUMBER[low, high] == PAIR_NUMBER[high, low] == number
    assert len(HANDS[2]) == 91


def random_hands(n, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(52, 6, replace=False) for _ in range(n)])


def test_classes_are_numbered_one_to_one_and_stand_for_all_deals():
    classes = np.arange(N_CLASSES)
    found, renamed = class_of(cards_of(classes))
    assert (found == classes).all()
    assert (renamed == cards_of(classes)).all()
    assert (np.diff(representatives()) > 0).all()
    assert class_sizes().sum() == N_DEALS


def test_renaming_suits_never_changes_the_class():
    hands = random_hands(5_000, seed=0)
    order = np.array([3, 1, 0, 2])
    classes, renamed = class_of(hands)
    assert (class_of(13 * order[hands // 13] + hands % 13)[0] == classes).all()
    assert (np.sort(renamed, axis=1) == cards_of(classes)).all()
    assert (renamed % 13 == hands % 13).all()
