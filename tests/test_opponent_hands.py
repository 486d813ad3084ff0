"""The posterior over the opponent's hand, and estimates of the rest of a deal, against plain enumeration."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.agents.belief import Hands, crib_chances, fill_after_play, habits, resample
from crib_env.engine import DEALER, PONE
from tests.helpers.plain_beliefs import (
    KINDS,
    NUMBER_OF_RANKS,
    beliefs,
    pack,
    plain_beliefs,
    plain_crib_chances,
    said_go,
    unpack,
    win_after_play,
)
from tests.helpers.positions import PAIRINGS, mask, positions
from tests.helpers.reference import rank


def as_dictionary(position):
    hands, weights, _, kinds = beliefs(position)
    found = {(unpack(hand), int(kind)): weight for hand, kind, weight in zip(hands, kinds, weights)}
    assert len(found) == len(hands)
    return found


def some_of_each_length():
    """Positions with four, three, two and one of the opponent's cards unknown, and among them some after a go."""
    by_length = defaultdict(list)
    for seed, pairing in enumerate(PAIRINGS):
        for position in positions(40, seed, pairing):
            by_length[len(position.hidden)].append(position)
    rng = np.random.default_rng(0)
    wanted = {4: 1, 3: 8, 2: 30, 1: 30}
    return [by_length[n][k] for n, some in wanted.items() for k in rng.choice(len(by_length[n]), some, replace=False)]


def test_beliefs_are_those_of_plain_enumeration():
    n_go = n_ruled_out = 0
    for position in some_of_each_length():
        found, expected = as_dictionary(position), plain_beliefs(position)
        assert set(found) == set(expected), position
        assert max(abs(found[key] - expected[key]) for key in expected) < 1e-9, position
        n_go += said_go(position)
        possible = {tuple(sorted(map(rank, held))) for held in combinations(position.unseen, len(position.hidden))}
        n_ruled_out += len(possible) > len({hand for hand, _ in found})
    assert n_go > 15
    assert n_ruled_out > 10  # a go did rule hands out


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_true_hand_is_never_ruled_out(pairing):
    n = 0
    for position in positions(150, seed=7, pairing=pairing):
        hands, weights, numbers, kinds = beliefs(position)
        held = tuple(sorted(map(rank, position.hidden)))
        four = tuple(sorted(map(rank, position.hidden + position.other_laid)))
        true = hands == pack(held)
        assert sorted(kinds[true]) == list(KINDS), position
        assert (weights[true] > 0).all(), position
        assert (numbers[true] == NUMBER_OF_RANKS[four]).all()
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        n += 1
    assert n > 900


@settings(deadline=None)
@given(
    st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=300),
    st.integers(1, 120),
    st.sampled_from([1, 5, 20]),
)
def test_thinned_hands_keep_every_share_to_within_one_part(raw, most, power):
    weights = np.array(raw) ** power
    weights /= weights.sum()
    size = len(weights)
    before, hands, kinds = weights.copy(), np.arange(size) * 3, np.arange(size) % 2
    numbers = np.arange(size) // 2
    kept = resample(np.int64(size), np.int64(most), Hands(hands, weights, numbers, kinds))
    assert 1 <= kept <= min(size, most)
    assert weights[:kept].sum() == pytest.approx(1)
    places = hands[:kept] // 3
    assert (np.diff(places) > 0).all()
    assert (numbers[:kept] == places // 2).all()  # what belongs together stays together
    assert (kinds[:kept] == places % 2).all()
    after = np.zeros(size)
    after[places] = weights[:kept]
    if size <= most:
        assert (after == before).all()
        return
    np.testing.assert_allclose(weights[:kept] * most, np.round(weights[:kept] * most), atol=1e-9)
    of_class = np.bincount(np.arange(size) // 2, after - before)
    assert np.abs(of_class).max() <= 1 / most + 1e-9
    assert np.abs(np.cumsum(after - before)).max() <= 0.5 / most + 1e-9


@pytest.mark.parametrize("is_dealer", [True, False])
def test_after_the_play_the_show_is_counted_in_its_order(is_dealer):
    rng = np.random.default_rng(0)
    win_table = rng.random((121, 121))
    for own_score, score in [(0, 0), (30, 70), (100, 95), (117, 120), (120, 117)]:
        crib = rng.random(30) * (rng.random(30) < 0.3)
        crib /= crib.sum()
        own_show = int(rng.integers(25))
        found = np.full((121, 150), np.nan)
        fill_after_play(is_dealer, (own_score, score), (40, 40), own_show, crib, win_table, found)
        for own in range(own_score, min(own_score + 40, 121)):
            for shown in range(score, min(score + 40, 120) + 25):
                expected = win_after_play(is_dealer, own, shown, own_show, crib, win_table)
                assert found[own, shown] == pytest.approx(expected, abs=1e-12)


def test_the_crib_is_weighed_by_what_the_opponent_discards():
    n = 0
    for position in positions(2, seed=11):
        chances, own_six = np.zeros(30), mask(position.own_four + position.discards)
        discarding = habits().discarding[DEALER if position.is_dealer else PONE]
        cut, seen = np.int64(position.starter), mask(position.other_laid)
        crib_chances(own_six, mask(position.discards), cut, seen, discarding, chances)
        np.testing.assert_allclose(chances, plain_crib_chances(position), atol=1e-12)
        n += 1
    assert n > 10
