"""Ratings: known strengths come back, and their intervals hold them at their rate."""

from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest

from crib_env.evaluate.matches.league import MEAN, rate

TRUE = np.array([0.0, 100.0, 150.0, -60.0, 500.0])
TRUE += MEAN - TRUE.mean()
PAIRINGS = list(combinations(range(len(TRUE)), 2))
CHANCES = np.array([1 / (1 + 10 ** ((TRUE[j] - TRUE[i]) / 400)) for i, j in PAIRINGS])


def simulated_league(n_deals, rng):
    """Games won by the first of each pairing, by deal: luck of a deal helps one seat, whoever sits in it."""
    limits = np.array([NormalDist().inv_cdf(chance) for chance in CHANCES])[:, None, None]
    seat = np.array([1.0, -1.0])
    of_deal = rng.normal(size=(1, n_deals, 1)) * seat
    of_pairing = rng.normal(size=(len(PAIRINGS), n_deals, 1)) * seat
    of_game = rng.normal(size=(len(PAIRINGS), n_deals, 2))
    luck = np.sqrt(0.3) * of_deal + np.sqrt(0.2) * of_pairing + np.sqrt(0.5) * of_game
    return (luck < limits).sum(axis=2)


def test_known_strengths_come_back():
    ratings = rate(len(TRUE), PAIRINGS, simulated_league(100_000, np.random.default_rng(0)))
    assert np.abs(ratings.points - TRUE).max() < 3
    assert (np.abs(ratings.points - TRUE) < 1.5 * ratings.half_widths).all()
    assert ratings.points.mean() == pytest.approx(MEAN)
    assert [ratings.chance(i, j) for i, j in PAIRINGS] == pytest.approx(CHANCES, abs=0.01)


def test_intervals_hold_the_true_ratings_at_their_rate():
    rng, leagues, covered = np.random.default_rng(1), 600, np.zeros(len(TRUE))
    for _ in range(leagues):
        ratings = rate(len(TRUE), PAIRINGS, simulated_league(300, rng))
        covered += np.abs(ratings.points - TRUE) <= ratings.half_widths
    assert (covered / leagues > 0.92).all()
    assert 0.935 < covered.mean() / leagues < 0.965


def test_mirrored_luck_makes_intervals_narrower():
    """Each pair of games split as if decided by the deal alone: there is no doubt left."""
    won = np.ones((1, 1_000), int)
    drawn = rate(2, [(0, 1)], won)
    independent = rate(2, [(0, 1)], np.random.default_rng(0).binomial(2, 0.5, (1, 1_000)))
    assert drawn.half_widths.max() < independent.half_widths.min() / 10
    assert drawn.points == pytest.approx([MEAN, MEAN])


def test_a_player_who_wins_every_game_has_a_finite_rating_and_a_wide_interval():
    ratings = rate(3, list(combinations(range(3), 2)), np.full((3, 100), 2))
    assert ratings.points[0] > ratings.points[1] > ratings.points[2]
    assert np.isfinite(ratings.points).all()
    assert ratings.half_widths[0] > 100
