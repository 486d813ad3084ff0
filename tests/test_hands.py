"""Hands of ranks by their numbers: every class once, in both orders, as masks and packed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.hands import (
    CLASS_MASKS,
    CLASS_RANKS,
    CLASS_SIZES,
    HAND_OF_CLASS,
    HANDS,
    N_RANK_CLASSES,
    PAIR_NUMBER,
    PAIR_RANKS,
    class_of_ranks,
    packed,
    rank_class,
)


def test_every_class_has_one_number_and_every_number_one_class():
    numbers = {int(class_of_ranks(ranks)): ranks for ranks in combinations_with_replacement(range(13), 4)}
    assert sorted(numbers) == list(range(1_820)) == list(range(N_RANK_CLASSES))
    assert [numbers[k] for k in range(N_RANK_CLASSES)] == [tuple(ranks) for ranks in CLASS_RANKS.tolist()]


def test_sizes_are_those_of_all_hands_of_four():
    counts = Counter(tuple(sorted(card % 13 for card in four)) for four in combinations(range(52), 4))
    assert [counts[tuple(ranks)] for ranks in CLASS_RANKS.tolist()] == CLASS_SIZES.tolist()
    assert CLASS_SIZES.sum() == comb(52, 4) == 270_725


@settings(deadline=None)  # the kernel is loaded by the first example
@given(st.lists(st.integers(0, 51), min_size=4, max_size=4, unique=True))
def test_the_class_of_cards_is_that_of_their_sorted_ranks(cards):
    ranks = sorted(card % 13 for card in cards)
    number = rank_class(sum(1 << card for card in cards))
    assert number == class_of_ranks(ranks)
    assert CLASS_RANKS[number].tolist() == ranks


def test_the_same_hands_as_masks_packed_and_counted_from_the_king():
    for number, (ranks, mask) in enumerate(zip(CLASS_RANKS.tolist(), CLASS_MASKS.tolist())):
        assert sorted(card % 13 for card in range(52) if mask >> card & 1) == ranks
        assert HANDS[4][HAND_OF_CLASS[number]].tolist() == ranks
    assert packed(np.array([0, 2, 2, 12])) == 1 + 2 * 16**2 + 16**12


def test_pairs_of_ranks_are_numbered_in_any_order():
    for number, (low, high) in enumerate(PAIR_RANKS.tolist()):
        assert PAIR_NUMBER[low, high] == PAIR_NUMBER[high, low] == number
    assert len(PAIR_RANKS) == 91
