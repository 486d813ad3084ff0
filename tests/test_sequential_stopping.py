"""Matches that stop when their interval is narrow enough: when they check it, and that the interval is right."""

import math
from itertools import pairwise

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.evaluate.matches import mirrored
from crib_env.evaluate.matches.match import play_games, play_match
from crib_env.evaluate.matches.mirrored import Games, mean_of_pairs
from crib_env.evaluate.statistics import Narrow, Sprt, looks, paired_rate_interval, reach


def test_looks_grow_by_a_quarter():
    found = list(looks(5_000))
    assert found[:3] == [500, 625, 782]
    assert found[-1] == 5_000
    assert all(later == math.ceil(1.25 * look) for look, later in pairwise(found[:-1]))
    assert list(looks(400)) == [400]


def test_a_match_stops_at_the_first_look_that_is_narrow_enough():
    parts = list(play_games(make_agent("greedy"), make_agent("random"), 10_000, seed=1, until=Narrow(0.0065)))
    pairs = mean_of_pairs(Games.merged(parts).won)
    first, second = list(looks(5_000))[:2]
    assert len(pairs) == (first if reach(pairs[:first]) <= 0.0065 else second)
    assert reach(pairs) <= 0.0065
    same = play_match(make_agent("greedy"), make_agent("random"), 2 * len(pairs), seed=1)
    assert same.win_rate == pairs.mean()


def test_a_match_that_cannot_reach_it_plays_all_its_games():
    played = Games.merged(
        list(play_games(make_agent("greedy"), make_agent("random"), 1_200, seed=1, until=Narrow(1e-6)))
    )
    assert len(played.won) == 1_200


def simulated(chances, rng):
    """In place of played games: pairs won twice, once and never, with these chances."""

    def play_shard(a, b, shard, *_):
        wins = rng.choice([2, 1, 0], size=len(shard.deals), p=chances)
        won = np.stack([wins == 2, wins >= 1], axis=1).ravel()
        scores = np.where(won[:, None], [121, 100], [100, 121])
        return Games(scores, 0, np.zeros(2), np.zeros(2))

    return play_shard


def coverage(chances, half, matches, monkeypatch):
    """How often the interval of a match that stops by itself holds the true rate, and how often its rate is within."""
    monkeypatch.setattr(mirrored, "play_shard", simulated(chances, np.random.default_rng(0)))
    rate = chances[0] + chances[1] / 2
    holds = within = 0
    for _ in range(matches):
        pairs = mean_of_pairs(Games.merged(list(play_games(None, None, 20_000, until=Narrow(half)))).won)
        low, high = paired_rate_interval(pairs)
        assert reach(pairs) <= half
        holds += low <= rate <= high
        within += abs(pairs.mean() - rate) <= half
    return holds / matches, within / matches


# Chances to win both games of a pair, one, none: as strong players are seen to have, without mirroring, and lopsided.
CASES = [((0.28, 0.44, 0.28), 0.02), ((0.25, 0.5, 0.25), 0.02), ((0.4, 0.4, 0.2), 0.015), ((0.97, 0.028, 0.002), 0.005)]


@pytest.mark.parametrize(
    ("chances", "half", "matches"),
    [(*CASES[0], 400), *(pytest.param(*case, 4_000, marks=pytest.mark.slow) for case in CASES)],
)
def test_the_promise_is_kept(chances, half, matches, monkeypatch):
    """To a percentage point, where many matches are simulated."""
    holds, within = coverage(chances, half, matches, monkeypatch)
    assert (0.93 if matches == 400 else 0.94) < holds < (0.975 if matches == 400 else 0.97)
    assert within > (0.94 if matches == 400 else 0.945)


def wrong_verdicts(true, test, draws, matches):
    """The share of simulated matches between players of this true difference in Elo in which the other is accepted."""
    rng, rate, wrong = np.random.default_rng(1), 1 / (1 + 10 ** (-true / 400)), 0
    for _ in range(matches):
        pairs = rng.choice([1, 0.5, 0], size=4_000, p=(rate - draws / 2, draws, 1 - rate - draws / 2))
        end = next(look for look in test.looks(len(pairs)) if test.is_met(pairs[:look]))
        wrong += test.found(pairs[:end]).accepted != true
    return wrong / matches


@pytest.mark.parametrize(
    ("test", "draws", "matches"),
    [
        (Sprt(0, 80), 0.44, 400),
        *(
            pytest.param(*case, 4_000, marks=pytest.mark.slow)
            for case in ((Sprt(0, 40), 0.44), (Sprt(0, 50), 0.6), (Sprt(200, 300), 0.28))
        ),
    ],
)
def test_a_sequential_test_is_wrong_in_five_of_a_hundred_matches_at_most(test, draws, matches):
    most = 0.06 if matches == 4_000 else 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / matches)
    for true in (test.elo0, test.elo1):
        assert wrong_verdicts(true, test, draws, matches) <= most


def test_the_ratio_is_that_of_plain_likelihoods_if_all_pairs_are_won_or_lost():
    """Then the result of a pair is that of one game, with one unknown: the distributions are those of the rates."""
    pairs = np.repeat([1.0, 0.0], [130, 70])
    low, high = (1 / (1 + 10 ** (-elo / 400)) for elo in (0, 100))
    plain = 130 * math.log(high / low) + 70 * math.log((1 - high) / (1 - low))
    assert Sprt(0, 100).found(pairs).log_likelihood_ratio == pytest.approx(plain, abs=0.01)
    assert Sprt(-100, 0).found(1 - pairs).log_likelihood_ratio == pytest.approx(-plain, abs=0.01)


def test_luckless_results_outside_of_0_to_1_are_tested_too():
    pairs = np.random.default_rng(2).normal(0.5, 0.3, 400)
    assert Sprt(-60, 0).found(pairs).accepted == 0
    assert Sprt(0, 60).found(pairs).accepted == 0


def test_equal_pairs_decide_nothing_impossible():
    for pairs, accepted in ((np.ones(40), 100), (np.zeros(40), 0), (np.full(400, 0.5), 0)):
        assert Sprt(0, 100).found(pairs).accepted == accepted


def test_a_test_that_is_not_decided_says_so():
    assert "not decided. Log-likelihood ratio" in Sprt(0, 1).verdict(np.array([0, 0.5, 1.0]))
