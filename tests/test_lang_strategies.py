"""Lang's eight strategies: one hand worked by hand, and what must hold for any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env import discard_statistics, parse_cards
from crib_env.agents.strategy_weights import STRATEGIES, pegging_values
from crib_env.cards import format_cards
from crib_env.engine import DEALER, PONE
from crib_env.hands import N_FOURS, hand_of_mask
from crib_env.tables.shipped import GAINED, GIVEN, PeggingRecords
from tests.helpers.desirabilities import desirabilities
from tests.helpers.refusals import refused


def class_of(cards):
    return int(hand_of_mask(int(sum(1 << int(card) for card in cards))))


def with_every_class(gained, given):
    """Records with plays (2, 1820, k) of every class in both roles."""
    records = PeggingRecords("greedy", "greedy")
    roles, classes = np.indices(gained.shape)[:2]
    for side, points in ((GAINED, gained), (GIVEN, given)):
        np.add.at(records.counts[:, :, side], (roles, classes, points), 1)
    return records


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    return with_every_class(rng.integers(12, size=(2, N_FOURS, 4)), rng.integers(12, size=(2, N_FOURS, 4)))


def test_a_hand_worked_by_hand():
    """Four aces and two kings: the kings, an ace and a king, or two aces may be discarded.

    Kept A A A A is worth 12 with any starter. A A A K: 6; with a two 8, a three 12, a four 12, a five 8, a king 8. A A
    K K: 4; with a three 8, a four 12, a five 8, a king 8. So sums over the 46 starters are 552, 344 and 256.
    """
    gained, given_away = np.zeros((2, 2, N_FOURS, 3), int)
    aces, three_aces, two_aces = (class_of(parse_cards(kept)) for kept in ("AC AD AH AS", "AC AD AH KC", "AC AD KC KD"))
    gained[PONE, aces], gained[PONE, three_aces], gained[PONE, two_aces] = [2, 2, 2], [3, 3, 9], [4, 4, 4]
    given_away[PONE, aces], given_away[PONE, three_aces], given_away[PONE, two_aces] = [1] * 3, [3] * 3, [2] * 3
    records = with_every_class(gained, given_away)

    found = desirabilities("AC AD AH AS KC KD", dealer=False, records=records)
    assert found.shape == (1, 8, 15)
    discarded = discard_statistics("AC AD AH AS KC KD")[0]["discard"]
    expected = {  # by aces kept: four, three, two
        "hand_max_min": (1, 2 / 8, 0),
        "hand_max_avg": (1, 88 / 296, 0),
        "hand_max_med": (1, 2 / 8, 0),
        "hand_max_poss": (1, 1, 1),  # all are equal, and so all are best
        "pegging_max_avg_gained": (0, 1, 2 / 3),
        "pegging_max_med_gained": (0, 1 / 2, 1),
        "pegging_min_avg_given": (1, 0, 1 / 2),
    }
    for strategy, by_aces_discarded in expected.items():
        values = found[0, STRATEGIES.index(strategy)]
        for pair, desirability in zip(discarded.tolist(), values):
            aces_discarded = sum(card % 13 == 0 for card in pair)
            assert desirability == pytest.approx(by_aces_discarded[aces_discarded]), (strategy, format_cards(pair))

    as_dealer = desirabilities("AC AD AH AS KC KD", dealer=True, records=records)
    assert (as_dealer[0, 5:] == 1).all()  # the dealer's records hold nothing but zeros
    assert (as_dealer[0, :5] == found[0, :5]).all()


def statistics_of(hand, role, records):
    """The statistic of each strategy, (8, 15); higher is better."""
    rows = discard_statistics([list(hand)])[0]
    kept = [class_of(set(hand) - set(row["discard"].tolist())) for row in rows]
    mean, median = records.mean[role, kept], records.median[role, kept]
    crib = -rows["crib_mean"]
    hands = [rows[name] for name in ("hand_min", "hand_mean", "hand_median", "hand_max")]
    return np.array([*hands, crib, mean[:, GAINED], median[:, GAINED], -mean[:, GIVEN]])


@settings(deadline=None, max_examples=150)
@given(hand=st.sets(st.integers(0, 51), min_size=6, max_size=6), dealer=st.booleans())
def test_desirabilities_order_discards_as_the_statistic_does(records, hand, dealer):
    found = desirabilities([list(hand)], dealer=dealer, records=records)[0]
    assert found.min() >= 0
    assert (found.max(axis=1) == 1).all()
    for values, statistic in zip(found, statistics_of(hand, DEALER if dealer else PONE, records)):
        low, high = statistic.min(), statistic.max()
        proportional = (statistic - low) / (high - low) if high > low else np.ones(15)
        np.testing.assert_allclose(values, proportional, atol=1e-9)
        assert (values[statistic == high] == 1).all()


def test_bad_input_is_named(records):
    with refused("K-K-K-K"):
        pegging_values(PeggingRecords("greedy", "greedy"))
