"""The worth of the fifteen discards: the chance to win by plain enumeration, and every field by other means."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import isclose

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env import analyse_discard, crib_distribution, discard_statistics, hand_distribution, parse_cards
from crib_env.engine import DEALER, PONE
from crib_env.exact.discard_statistics import STATISTICS
from crib_env.exact.rank_classes import CLASS_RANKS
from crib_env.tables.analysis import DealChances, _tilt, dealer_wins, win_shares
from crib_env.tables.pegging import GAINED, GIVEN
from crib_env.tables.standard import standard_cribs, standard_pegging, standard_win_table

CLASS_OF_RANKS = {tuple(ranks): number for number, ranks in enumerate(CLASS_RANKS.tolist())}
SIX = "5H 5C JD QS 2H 3D"


def some_hands(n, seed):
    rng = np.random.default_rng(seed)
    random = [rng.choice(52, 6, replace=False).tolist() for _ in range(n)]
    return [*random, parse_cards("JC JD JH AC 2C 3C"), parse_cards("5C 5D 5H 5S JC 4D"), parse_cards(SIX)]


# The chance to win a game by what a deal may bring.


def chances(length, some):
    """An array of chances out of a dictionary by points."""
    out = np.zeros(length)
    for points, chance in some.items():
        out[points] = chance
    return out / out.sum()


def plain_dealer_wins(dealer, pone, heels, dealers_play, pones_play, dealers_hand, pones_hand, crib, win_table):
    """Over all that may happen, in the order in which it is counted."""
    parts = [{0: 1 - heels, 2: heels}]
    for part in (dealers_play, pones_play, pones_hand, dealers_hand, crib):
        parts.append({points: part[points] for points in range(len(part)) if part[points]})
    total = 0.0
    for fallen in product(*(part.items() for part in parts)):
        (jack, played_d, played_p, shown_p, shown_d, in_crib), chance = zip(*fallen)
        d, p = dealer + jack, pone
        if d >= 121:
            wins = 1.0
        elif d + played_d >= 121 or p + played_p >= 121:
            wins = (d + played_d >= 121) / ((d + played_d >= 121) + (p + played_p >= 121))
        elif p + played_p + shown_p >= 121:
            wins = 0.0
        elif d + played_d + shown_d + in_crib >= 121:
            wins = 1.0
        else:  # the other deals now
            wins = 1 - win_table[p + played_p + shown_p, d + played_d + shown_d + in_crib]
        total += wins * np.prod(chance)
    return total


def random_parts(rng):
    """Heels, both plays, both hands and the crib, each with a few values, now and then the highest there are."""

    def some(length, most):
        top = length if rng.random() < 0.1 else most
        points = rng.choice(top, int(rng.integers(1, 4)), replace=False)
        return chances(length, {int(k): float(rng.random()) for k in points})

    return [
        float(rng.choice([0.0, 1.0, rng.random()])),
        *(some(61, 15) for _ in range(2)),
        *(some(30, 25) for _ in range(3)),
    ]


@pytest.mark.parametrize("lowest", [0, 60, 95, 110, 117])
def test_the_dealers_chance_is_that_of_plain_enumeration(lowest):
    rng = np.random.default_rng(lowest)
    values = []
    for _ in range(60):
        win_table = rng.random((121, 121))
        dealer, pone = (int(score) for score in rng.integers(lowest, 121, 2))
        parts = random_parts(rng)
        values.append(dealer_wins(dealer, pone, DealChances(*parts), win_table))
        assert values[-1] == pytest.approx(plain_dealer_wins(dealer, pone, *parts, win_table), abs=1e-12)
    assert 0 <= min(values) < 0.3
    assert 0.6 < max(values) <= 1 + 1e-12


def sure(points, length):
    return chances(length, {points: 1.0})


@pytest.mark.parametrize(
    ("scores", "heels", "played", "shown", "crib", "wins"),
    [
        ((119, 120), 1.0, (0, 5), (0, 5), 0, 1.0),  # heels, before anything else
        ((118, 120), 1.0, (0, 5), (0, 5), 0, 0.0),  # one short, and pone pegs out
        ((118, 120), 1.0, (1, 0), (0, 5), 0, 1.0),
        ((118, 118), 0.0, (3, 3), (0, 0), 0, 0.5),  # either may be first in the play
        ((118, 118), 0.0, (3, 2), (0, 9), 0, 1.0),
        ((118, 118), 0.0, (2, 3), (9, 0), 9, 0.0),
        ((118, 118), 0.0, (2, 2), (9, 1), 9, 0.0),  # pone counts first
        ((118, 118), 0.0, (2, 2), (1, 0), 0, 1.0),
        ((118, 118), 0.0, (2, 2), (0, 0), 1, 1.0),  # the crib, last
        ((118, 118), 0.0, (2, 2), (0, 0), 0, 0.25),  # 120 all: pone deals, who wins three of four
        ((0, 0), 0.0, (0, 0), (0, 0), 0, 0.25),
        ((0, 0), 1.0, (0, 0), (0, 0), 0, 0.25),
    ],
)
def test_certain_cases(scores, heels, played, shown, crib, wins):
    win_table = np.full((121, 121), 0.75)
    parts = [sure(played[0], 61), sure(played[1], 61), sure(shown[0], 30), sure(shown[1], 30), sure(crib, 30)]
    assert dealer_wins(*scores, DealChances(heels, *parts), win_table) == pytest.approx(wins)


def test_the_boards_own_scores_are_asked():
    """From 50–60: heels, 4 and 3 in the play, 8 and 7 shown, 5 in the crib make 69–70, and pone deals next."""
    win_table = np.zeros((121, 121))
    win_table[70, 69] = 0.8
    parts = [sure(4, 61), sure(3, 61), sure(8, 30), sure(7, 30), sure(5, 30)]
    assert dealer_wins(50, 60, DealChances(1.0, *parts), win_table) == pytest.approx(0.2)


def test_more_points_are_never_worse():
    """By a win table that is not from play, in any distributions."""
    rng = np.random.default_rng(0)
    own, other = np.meshgrid(np.arange(121), np.arange(121), indexing="ij")
    win_table = 1 / (1 + np.exp((other - own) / 12))
    for _ in range(20):
        parts = random_parts(rng)
        start = int(rng.integers(80, 119))
        deal, scores = DealChances(*parts), range(start, 121)
        values = np.array([[dealer_wins(d, p, deal, win_table) for p in scores] for d in scores])
        assert values.min() >= -1e-12
        assert values.max() <= 1 + 1e-12
        assert (np.diff(values, axis=0) >= -1e-12).all()
        assert (np.diff(values, axis=1) <= 1e-12).all()
        assert values[-1, 0] > values[0, -1]


# Tilted chances.


@settings(deadline=None)
@given(
    st.dictionaries(st.integers(0, 29), st.floats(0.01, 1.0), min_size=2, max_size=30),
    st.floats(-1.2, 1.2),
)
def test_tilted_chances_have_the_mean_and_the_points_they_had(some, by):
    """Means move by as much as purposeful discards move them, and stay well inside what the points allow."""
    before = chances(30, some)
    points = np.arange(30)
    mean = before @ points
    low, high = min(some), max(some)
    mean = float(np.clip(mean + by, low + 0.3 * (mean - low), high - 0.3 * (high - mean)))
    after = before.copy()
    _tilt(after, mean)
    assert after.sum() == pytest.approx(1)
    assert after @ points == pytest.approx(mean, abs=1e-6)
    assert ((after > 0) == (before > 0)).all()
    # By one power for all points: the weights' logarithms lie on a line.
    there = np.flatnonzero(before)
    slopes = np.diff(np.log(after[there] / before[there])) / np.diff(there)
    np.testing.assert_allclose(slopes, slopes[0], atol=1e-6)


@pytest.mark.parametrize("role", [DEALER, PONE])
def test_every_crib_can_be_tilted_as_far_as_is_asked(role):
    tables, n = standard_cribs(), 0
    shift = tables.mean[role] - tables.against_random
    for six in some_hands(200, seed=1):
        rows, cribs = discard_statistics([six])[0], crib_distribution([six])[0] / 45_540
        for row, crib in zip(rows, cribs):
            mean = row["crib_mean"] + shift[row["discard"][0] % 13, row["discard"][1] % 13]
            assert mean > 0.2
            _tilt(crib, mean)
            assert isclose(crib @ np.arange(30), mean, abs_tol=1e-9)
            n += 1
    assert n > 3_000


# The analysis.


def plain_analysis(cards, dealer, scores):
    """By pair discarded: total and chance to win, out of public statistics and shipped tables."""
    held = sorted(cards)
    rows, hands = discard_statistics([held])[0], hand_distribution([held])[0] / 46
    cribs, tables, pegging = crib_distribution([held])[0] / 45_540, standard_cribs(), standard_pegging()
    me, other = (DEALER, PONE) if dealer else (PONE, DEALER)
    heels = (4 - sum(card % 13 == 10 for card in held)) / 46
    found = {}
    for row, hand, crib in zip(rows, hands, cribs):
        pair = row["discard"].tolist()
        low, high = sorted(card % 13 for card in pair)
        mean = crib @ np.arange(30) + tables.mean[me, low, high] - tables.against_random[low, high]
        number = CLASS_OF_RANKS[tuple(sorted(card % 13 for card in held if card not in pair))]
        gained, given = pegging.mean[me, number]
        total = hand @ np.arange(30) + (mean if dealer else -mean) + gained - given
        _tilt(crib, mean)
        play, others_hand = pegging.distribution[me, number], tables.hand_points[other]
        win_table = standard_win_table().win_probability.astype(float)
        if dealer:
            deal = DealChances(heels, play[GAINED], play[GIVEN], hand, others_hand, crib)
            wins = dealer_wins(*scores, deal, win_table)
        else:
            deal = DealChances(heels, play[GIVEN], play[GAINED], others_hand, hand, crib)
            wins = 1 - dealer_wins(*scores[::-1], deal, win_table)
        error = np.hypot(*pegging.standard_error[me, number])
        if tables.share[me, low, high] > 0:
            error = np.hypot(error, tables.error[me, low, high])
        found[tuple(pair)] = {
            "crib_expected": mean,
            "pegging": gained - given,
            "total": total,
            "total_error": error,
            "win_probability": wins,
        }
    return found


@pytest.mark.parametrize("dealer", [False, True])
@pytest.mark.parametrize("scores", [(0, 0), (70, 85), (118, 118), (120, 100), (100, 120)])
def test_every_figure_comes_from_where_it_is_said_to_come_from(dealer, scores):
    for six in some_hands(2, seed=sum(scores) + dealer):
        found = analyse_discard(six, dealer=dealer, scores=scores)
        expected = plain_analysis(six, dealer, scores)
        assert len(found) == len({tuple(row["discard"]) for row in found}) == 15
        for row in found:
            for name, value in expected[tuple(row["discard"].tolist())].items():
                assert row[name] == pytest.approx(value, abs=1e-12), name
        assert found["win_probability"].min() >= -1e-12
        assert found["win_probability"].max() <= 1 + 1e-12


def test_statistics_are_those_of_the_same_discard():
    for six in some_hands(5, seed=2):
        statistics = {tuple(row["discard"].tolist()): row for row in discard_statistics([six])[0]}
        pairs = list(combinations(sorted(six), 2))
        cribs = dict(zip(pairs, crib_distribution([six])[0]))
        for row in analyse_discard(six, dealer=True):
            pair = tuple(row["discard"].tolist())
            for name in STATISTICS.names:
                assert np.array_equal(row[name], statistics[pair][name]), name
            points = np.repeat(np.arange(30), cribs[pair])
            assert (row["crib_min"], row["crib_max"]) == (points.min(), points.max())
            assert row["crib_std"] == pytest.approx(points.std())


@pytest.mark.parametrize("scores", [(0, 0), (118, 118)])
def test_the_best_chance_to_win_comes_first(scores):
    for six in some_hands(20, seed=3):
        found = analyse_discard(six, dealer=False, scores=scores)
        assert (np.diff(found["win_probability"]) <= 0).all()
        equal = np.diff(found["win_probability"]) == 0
        assert (np.diff(found["total"])[equal] <= 0).all()


def test_text_and_ids_in_any_order_are_read():
    rng = np.random.default_rng(0)
    one = analyse_discard(SIX, dealer=True, scores=(60, 70))
    cards = rng.permutation(parse_cards(SIX))
    for other in (cards, cards.tolist(), SIX.lower().split(), [*SIX.split()[:3], *parse_cards(SIX)[3:]]):
        assert (analyse_discard(other, dealer=True, scores=(60, 70)) == one).all()
    assert not (analyse_discard(SIX, dealer=False, scores=(60, 70)) == one).all()
    assert (analyse_discard(SIX, dealer=True) == analyse_discard(SIX, dealer=True, scores=(0, 0))).all()


@pytest.mark.parametrize("dealer", [False, True])
def test_the_names_of_suits_do_not_matter(dealer):
    for six in some_hands(2, seed=4):
        one = {frozenset(row["discard"].tolist()): row for row in analyse_discard(six, dealer=dealer, scores=(90, 99))}
        for suits in list(permutations(range(4)))[1::7]:
            named = {card: 13 * suits[card // 13] + card % 13 for card in six}
            two = analyse_discard(list(named.values()), dealer=dealer, scores=(90, 99))
            by_pair = {frozenset(row["discard"].tolist()): row for row in two}
            for pair, row in one.items():
                twin = by_pair[frozenset(named[card] for card in pair)]
                assert twin.tolist()[1:] == pytest.approx(row.tolist()[1:], abs=1e-12)


def test_far_from_the_end_points_are_what_wins():
    """At 0–0 the order is nearly that of the total; at 118–118 it is not."""
    correlations = {}
    for scores in ((0, 0), (118, 118)):
        for dealer in (False, True):
            every = []
            for six in some_hands(30, seed=5):
                found = analyse_discard(six, dealer=dealer, scores=scores)
                every.append(np.corrcoef(found["total"], found["win_probability"])[0, 1])
                if scores == (0, 0):
                    assert found["total"][0] > found["total"].max() - 0.3
            correlations[scores, dealer] = np.mean(every)
    assert min(correlations[(0, 0), dealer] for dealer in (False, True)) > 0.99
    assert max(correlations[(118, 118), dealer] for dealer in (False, True)) < 0.95


def test_near_home_another_discard_is_best():
    """At 118–118 pone needs three points and counts first: twelve are no better, and what the play gives away hurts."""
    cards = "5H 6C 7C 4H AS 5S"
    far, near = (analyse_discard(cards, dealer=False, scores=scores)[0] for scores in ((0, 0), (118, 118)))
    assert set(far["discard"].tolist()) == set(parse_cards("7C AS"))
    assert near["total"] < far["total"] - 3
    assert set(near["discard"].tolist()) != set(far["discard"].tolist())


@pytest.mark.parametrize("dealer", [False, True])
@pytest.mark.parametrize("scores", [(0, 0), (118, 118), (120, 120)])
def test_the_shares_of_hand_pegging_and_crib_are_the_whole_difference(dealer, scores):
    for six in some_hands(3, seed=6):
        rows = analyse_discard(six, dealer=dealer, scores=scores)
        for first, second in ((rows[0], rows[1]), (rows[9], rows[3])):
            shares = win_shares(six, first, second, dealer=dealer, scores=scores)
            assert sum(shares) == pytest.approx(first["win_probability"] - second["win_probability"], abs=1e-9)
            back = win_shares(six, second, first, dealer=dealer, scores=scores)
            assert back == pytest.approx([-share for share in shares], abs=1e-9)


def test_shares_tell_what_decides():
    """At 120 all somebody pegs out before the show; at 0–0 a part weighs as the points that it brings."""
    rows = analyse_discard(SIX, dealer=True, scores=(120, 120))
    shares = win_shares(SIX, rows[0], rows[-1], dealer=True, scores=(120, 120))
    assert shares.pegging > 0.02
    assert shares.hand == pytest.approx(0, abs=1e-3)
    assert shares.crib == pytest.approx(0, abs=1e-3)
    first, second = analyse_discard(SIX, dealer=True)[:2]
    shares = win_shares(SIX, first, second, dealer=True, scores=(0, 0))
    points = [first[name] - second[name] for name in ("hand_mean", "pegging", "crib_expected")]
    assert max(np.abs(points)) > 4
    assert shares == pytest.approx(np.array(points) * sum(shares) / sum(points), abs=0.02)


def test_what_is_all_but_decided():
    assert analyse_discard(SIX, dealer=True, scores=(120, 0))["win_probability"].min() > 0.99
    assert analyse_discard(SIX, dealer=False, scores=(0, 120))["win_probability"].max() < 0.01


@pytest.mark.parametrize(
    ("cards", "scores", "message"),
    [
        ("5H 5C JD QS 2H", (0, 0), "five cards given, six are needed"),
        ("", (0, 0), "no cards given, six are needed"),
        ([3], (0, 0), "one card given, six are needed"),
        (range(12), (0, 0), "12 cards given, six are needed"),
        ("5H 5C JD QS 2H 5H", (0, 0), "5H stands twice"),
        ("5H 5C JD QS 2H 1X", (0, 0), "'1X' is not a card"),
        ([0, 1, 2, 3, 4, 52], (0, 0), "52 is not a card"),
        ([0, 1, 2, 3, 4, 4], (0, 0), "5C stands twice"),
        ([0, 1, 2, 3, 4, 5.5], (0, 0), "5.5 is not a card"),
        (SIX, (121, 0), r"scores=\(121, 0\) is not allowed"),
        (SIX, (0, -1), r"scores=\(0, -1\) is not allowed"),
        (SIX, (5,), r"scores=\(5,\) is not allowed"),
        (SIX, (1, 2, 3), r"scores=\(1, 2, 3\) is not allowed"),
        (SIX, (10.5, 3), r"scores=\(10.5, 3\) is not allowed"),
        (SIX, ("7", 3), r"scores=\('7', 3\) is not allowed"),
    ],
)
def test_bad_cards_and_scores_are_named(cards, scores, message):
    with pytest.raises(ValueError, match=message):
        analyse_discard(cards, dealer=True, scores=scores)


def test_pegging_of_known_hands_is_that_of_the_records():
    records = standard_pegging()
    for kept, discarded, dealer in (
        ("5H 5C JD QS", "2H 3D", True),
        ("AC 2C 3C 4C", "KH KD", False),
        ("7C 8D 9H TS", "AD 4H", False),
    ):
        found = analyse_discard(f"{kept} {discarded}", dealer=dealer)
        (row,) = [row for row in found if set(row["discard"].tolist()) == set(parse_cards(discarded))]
        number = CLASS_OF_RANKS[tuple(sorted(card % 13 for card in parse_cards(kept)))]
        role = DEALER if dealer else PONE
        plays = records.counts[role, number] @ np.arange(61) / records.n[role, number]
        assert row["pegging"] == pytest.approx(plays[GAINED] - plays[GIVEN])
    gained = records.mean[PONE, :, GAINED]
    assert gained[CLASS_OF_RANKS[0, 1, 2, 3]] > gained[CLASS_OF_RANKS[9, 10, 11, 12]]
