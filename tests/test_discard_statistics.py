"""Statistics of discards against plain enumeration, equal in every figure."""

from itertools import combinations

import numpy as np
import pytest

import crib_env
from crib_env import crib_distribution, discard_statistics, hand_distribution, parse_cards, score_show_many
from crib_env.cards import format_cards
from tests.helpers.refusals import refused

PAIRS = list(combinations(range(6), 2))
SPECIAL = [
    "JC JD JH AC 2C 3C",  # jacks of three suits, some suited
    "AC 2C 3C 4C JC KC",  # one suit, with its jack
    "AC AD AH AS 5C 5D",  # four of a kind
    "9C TC JC QC KC JS",
    "JC TC 5C 6C 7C 8C",
    "5C 5D 5H JS JC 4D",
]


def six_cards(n, seed):
    rng = np.random.default_rng(seed)
    random = [rng.choice(52, 6, replace=False) for _ in range(n)]
    few_ranks = [rng.choice([c for c in range(52) if c % 13 in (4, 9, 10, 11)], 6, replace=False) for _ in range(n)]
    suited = [rng.choice(18, 6, replace=False) for _ in range(n)]
    return np.array([*random, *few_ranks, *suited, *(parse_cards(text) for text in SPECIAL)])


def enumerated_crib(six, discard):
    """Counts of crib points over every opposing pair and starter, one after the other."""
    unseen = [card for card in range(52) if card not in six]
    pairs = np.array(list(combinations(unseen, 2)))
    counts = np.zeros(30, np.int64)
    for starter in unseen:
        others = pairs[(pairs != starter).all(axis=1)]
        cribs = np.concatenate([np.tile(discard, (len(others), 1)), others], axis=1)
        counts += np.bincount(score_show_many(cribs, np.full(len(cribs), starter), True), minlength=30)
    return counts


def test_hands_equal_enumeration_in_every_figure():
    hands = np.sort(six_cards(400, seed=0), axis=1)
    statistics, counts = discard_statistics(hands), hand_distribution(hands)
    for six, rows, distribution in zip(hands.tolist(), statistics, counts):
        unseen = [card for card in range(52) if card not in six]
        for (i, j), row, counted in zip(PAIRS, rows, distribution):
            kept = [card for card in six if card not in (six[i], six[j])]
            points = score_show_many([kept] * 46, unseen).astype(int)
            assert row["discard"].tolist() == [six[i], six[j]]
            assert counted.tolist() == np.bincount(points, minlength=30).tolist()
            assert (row["hand_min"], row["hand_max"]) == (points.min(), points.max())
            assert row["hand_median"] == np.median(points)
            assert row["hand_mean"] == pytest.approx(points.mean(), abs=1e-12)
            assert row["hand_std"] == pytest.approx(points.std(), abs=1e-12)


def test_cribs_equal_enumeration_in_every_figure():
    hands = np.sort(six_cards(3, seed=1), axis=1)
    statistics, counts = discard_statistics(hands), crib_distribution(hands)
    assert (counts.sum(axis=2) == 45_540).all()
    rng = np.random.default_rng(2)
    for six, rows, distribution in zip(hands.tolist(), statistics, counts):
        for k in rng.choice(15, 4, replace=False):
            expected = enumerated_crib(six, rows[k]["discard"])
            assert distribution[k].tolist() == expected.tolist(), format_cards(six)
            mean = (expected * np.arange(30)).sum() / 45_540
            assert rows[k]["crib_mean"] == pytest.approx(mean, abs=1e-12)


def test_crib_means_equal_their_distributions_on_thousands_of_hands():
    hands = six_cards(1_000, seed=3)
    means = (crib_distribution(hands) * np.arange(30)).sum(axis=2) / 45_540
    np.testing.assert_allclose(discard_statistics(hands)["crib_mean"], means, atol=1e-12)


def test_text_and_any_order_are_read():
    one = discard_statistics("5H 5C JD QS 2H 3D")
    two = discard_statistics([parse_cards("3D 2H QS JD 5C 5H")])
    assert (one == two).all()
    assert one.shape == (1, 15)
    best = one[0][one[0]["hand_mean"].argmax()]
    assert format_cards(best["discard"].tolist()) == "3D 2H"


@pytest.mark.parametrize("form", [list, tuple, np.array, lambda hands: [hand.split() for hand in hands]])
def test_hands_of_text_equal_hands_of_ids(form):
    ids = [parse_cards(text) for text in SPECIAL]
    for function in (discard_statistics, hand_distribution, crib_distribution):
        assert (function(form(SPECIAL)) == function(ids)).all()


def test_no_hands_give_no_rows():
    assert crib_env.discard_statistics([]).shape == (0, 15)


@pytest.mark.parametrize(
    ("hands", "message"),
    [
        ("5H 5C JD QS 2H", "six cards are needed, not 5"),
        ("5H 5C JD QS 2H 5H", "5H is given twice"),
        ([[0, 1, 2, 3, 4, 52]], "hand 0: 52 is not a card"),
        ([[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, -1]], "hand 1: -1 is not a card"),
        ([[0, 1, 2, 3, 4, 4]], "hand 0: 5C is given twice"),
        (["5H 5C JD QS 2H 3D", "5H 5C JD QS 2H 5H"], "hand 1: 5H is given twice"),
        (["5H", "5C", "JD", "QS", "2H", "3D"], "hand 0: six cards are needed, not 1"),
        ([["5H", "5C", "JD", "QS", "2H", "XX"]], "hand 0: 'XX' is not a card"),
        (np.array(None), "hands must be (N, 6)"),
        ([[0.5, 1, 2, 3, 4, 5]], "integer card ids"),
        ([0, 1, 2, 3, 4, 5], "hands must be (N, 6)"),
    ],
)
def test_bad_hands_are_named(hands, message):
    with refused(message):
        discard_statistics(hands)
