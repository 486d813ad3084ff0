"""Matches that stop when their interval is narrow enough: when they check it, and that the interval is right."""

import math
from itertools import pairwise

import numpy as np
import pytest

from crib_env.agents import make_agent
from evaluate.commands.match import read_half_width
from evaluate.matches import blocks
from evaluate.matches.match import play_games, play_match
from evaluate.matches.mirrored import Games, mean_of_pairs
from evaluate.matches.stopping import Narrow
from evaluate.statistics import looks, paired_rate_interval, reach


@pytest.mark.parametrize("text", ["0.5", "0.5%", "±0.5%", "±0.5", " ±0.5% "])
def test_a_half_width_is_read_in_percentage_points(text):
    assert read_half_width(text) == pytest.approx(0.005)


@pytest.mark.parametrize("text", ["", "0", "-1", "±50%", "half", "nan", "inf"])
def test_other_half_widths_are_refused(text):
    with pytest.raises(ValueError, match="is not allowed: give percentage points between 0 and 50"):
        read_half_width(text)


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
    played = Games.merged(list(play_games(make_agent("greedy"), make_agent("random"), 1_200, seed=1, until=Narrow(1e-6))))
    assert len(played.won) == 1_200


def simulated(chances, rng):
    """In place of played games: pairs won twice, once and never, with these chances."""

    def play_shard(a, b, shard, *_):
        wins = rng.choice([2, 1, 0], size=len(shard.deals), p=chances)
        won = np.stack([wins == 2, wins >= 1], axis=1).ravel()
        scores = np.where(won[:, None], [121, 100], [100, 121])
        return Games(scores, *(np.zeros(2) for _ in range(4)))

    return play_shard


def coverage(chances, half, matches, monkeypatch):
    """How often the interval of a match that stops by itself holds the true rate, and how often its rate is within."""
    monkeypatch.setattr(blocks, "play_shard", simulated(chances, np.random.default_rng(0)))
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


@pytest.mark.parametrize(("chances", "half"), CASES[:2])
def test_the_promise_is_kept(chances, half, monkeypatch):
    holds, within = coverage(chances, half, 400, monkeypatch)
    assert 0.93 < holds < 0.975
    assert within > 0.94


@pytest.mark.slow
@pytest.mark.parametrize(("chances", "half"), CASES)
def test_the_promise_is_kept_to_a_percentage_point(chances, half, monkeypatch):
    holds, within = coverage(chances, half, 4_000, monkeypatch)
    assert 0.94 < holds < 0.97
    assert within > 0.945
