"""Luck subtracted with fitted slopes: no bias; intervals that hold and are not wider, whoever plays."""

import numpy as np
import pytest

from crib_env.evaluate.skill.luck.variates import less_luck
from crib_env.evaluate.statistics import half_width, independent_games, rate_less_luck, reach
from crib_env.players.games import paired_rate_interval, wilson_interval

SCALES = np.array([1.0, 40.0, 4.0])  # of the three results of a game, one to the other
# How far the first player is ahead, and the share of pairs that are not certain to be drawn.
PLAYERS = {"equals": (0.0, 1.0), "near copies": (0.1, 0.1), "ahead": (0.5, 1.0), "lopsided": (2.0, 1.0)}


def simulated(players, pairs, rng):
    """Results and luck (N, 3) of pairs whose games the luck decides together with what is no luck."""
    ahead, differing = PLAYERS[players]
    differs = (rng.random(pairs) < differing)[:, None]
    luck = rng.normal(size=(pairs, 1)) * differs
    won = (ahead + luck + rng.normal(size=(pairs, 2)) > 0).mean(axis=1)[:, None]
    won = np.where(differs, won, 0.5)
    return SCALES * (won - [0, 0.5, 0.5]), SCALES * 0.28 * luck


def others_slopes(results, luck):
    return (results - less_luck(results, luck)) / luck


@pytest.mark.parametrize("players", PLAYERS)
def test_a_pair_has_no_part_in_its_own_slope(players):
    """This is why there is no bias."""
    results, luck = simulated(players, 20, np.random.default_rng(0))
    luck += 1e-3  # in no pair exactly zero
    before = others_slopes(results, luck)
    results[7], luck[7] = (1.0, 20.0, 2.0), (0.9, -30.0, 5.0)
    after = others_slopes(results, luck)
    assert after[7] == pytest.approx(before[7])
    assert not np.allclose(after[8], before[8])


@pytest.mark.parametrize("pairs", [10, 25, 50])
@pytest.mark.parametrize("players", PLAYERS)
def test_small_matches_are_unbiased_and_their_intervals_hold_and_are_not_wider(players, pairs):
    rng, matches = np.random.default_rng(pairs), 1_500
    truth = simulated(players, 1_000_000, rng)[0][:, 0].mean()
    rates, means, widths, held = np.zeros(matches), np.zeros((2, matches, 3)), np.zeros((2, matches)), 0
    for k in range(matches):
        results, luck = simulated(players, pairs, rng)
        adjusted = less_luck(results, luck)
        rates[k], (low, high) = rate_less_luck(results[:, 0], adjusted[:, 0])
        means[:, k] = results.mean(axis=0), adjusted.mean(axis=0)
        widths[:, k] = half_width(paired_rate_interval(results[:, 0])), half_width((low, high))
        assert 0 <= low <= rates[k] <= high + 1e-12 <= 1 + 1e-12
        held += low <= truth <= high
    off = means[1] - means[0]
    assert (abs(off.mean(axis=0)) < 4 * off.std(axis=0) / np.sqrt(matches)).all()
    assert abs(rates.mean() - truth) < 4 * rates.std() / np.sqrt(matches) + 0.001  # rates have been kept in 0 to 1
    assert widths[1].mean() < 1.01 * widths[0].mean()
    assert (means[1].var(axis=0) < 1.1 * means[0].var(axis=0)).all()
    assert held / matches > 0.92


def test_between_equals_a_small_match_varies_as_little_as_with_the_best_slopes():
    rng = np.random.default_rng(1)
    plain, best, fitted = np.zeros((3, 1_000, 3))
    for k in range(len(plain)):
        results, luck = simulated("equals", 10, rng)
        plain[k], best[k] = results.mean(axis=0), (results - luck).mean(axis=0)
        fitted[k] = less_luck(results, luck).mean(axis=0)
    assert (fitted.var(axis=0) < 1.1 * best.var(axis=0)).all()
    assert (fitted.var(axis=0) < 0.6 * plain.var(axis=0)).all()


def test_nothing_is_subtracted_where_every_game_was_won():
    results, luck = np.tile([1.0, 0.0, 3.0], (40, 1)), np.random.default_rng(0).normal(size=(40, 3))
    adjusted = less_luck(results, luck)
    assert adjusted == pytest.approx(results, abs=1e-9)
    rate, interval = rate_less_luck(results[:, 0], adjusted[:, 0])
    assert rate == pytest.approx(1)
    assert interval == pytest.approx(paired_rate_interval(results[:, 0]))


def test_one_pair_is_left_as_it_is():
    results = np.array([[0.5, 3.0, 0.0]])
    assert np.array_equal(less_luck(results, np.ones((1, 3))), results)
    assert rate_less_luck(results[:, 0], results[:, 0]) == (0.5, paired_rate_interval(results[:, 0]))


def test_a_few_pairs_are_trusted_less_than_their_spread_says():
    pairs, less = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.55, 0.45, 0.55, 0.45])
    student_with_three_degrees_of_freedom = 3.182
    games = independent_games(0.5, less) * (1.960 / student_with_three_degrees_of_freedom) ** 2
    assert rate_less_luck(pairs, less)[1] == pytest.approx(wilson_interval(0.5, games), rel=1e-3)


def test_a_rate_stays_within_its_range():
    pairs, less = np.array([1.0, 1.0, 1.0, 0.5]), np.array([1.2, 1.1, 1.3, 0.6])
    rate, (low, high) = rate_less_luck(pairs, less)
    assert rate == 1
    assert high == pytest.approx(1)
    assert 0 < low < 1
    assert reach(pairs, less) == rate - low


def test_the_fewer_pairs_are_drawn_without_exception_the_less_is_known():
    """By the rule of three: in 60 pairs, at most 5 % of all pairs are not drawn."""
    assert reach(np.full(60, 0.5)) == pytest.approx(0.025, rel=0.01)
    assert reach(np.full(6, 0.5)) > 0.2
