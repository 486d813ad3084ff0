"""Four ranks as a number: every class once, with its number of hands."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement
from math import comb

from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.hands import (
    CLASS_RANKS,
    CLASS_SIZES,
    N_RANK_CLASSES,
    class_of_ranks,
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
