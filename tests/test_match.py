"""Mirrored matches and their intervals."""

import json

import numpy as np
import pytest

from agents import make_agent
from evaluate.match import play_match
from evaluate.match_table import match_table
from evaluate.statistics import paired_rate_interval


def test_equal_players_of_one_mind_split_every_pair():
    result = play_match(make_agent("greedy"), make_agent("greedy"), 400, seed=1)
    assert result.win_rate == 0.5
    assert result.margin == 0
    assert result.points_per_deal["a"] == result.points_per_deal["b"]


class FirstCard:
    """Has no random stream that would follow the game's id."""

    name = "first card"

    def act(self, views):
        return views.action_mask.argmax(axis=1)


def test_seats_and_sides_do_not_matter():
    one = play_match(make_agent("greedy"), FirstCard(), 600, seed=2)
    two = play_match(FirstCard(), make_agent("greedy"), 600, seed=2)
    assert one.wins + two.wins == 600
    assert one.margin == pytest.approx(-two.margin)
    assert one.points_per_deal["a"] == two.points_per_deal["b"]
    assert one.skunks["a"] == two.skunks["b"]


def test_points_per_deal_add_up_to_the_scores():
    result = play_match(make_agent("greedy"), make_agent("random"), 600, seed=3)
    per_deal = {p: sum(sum(s.values()) for s in result.points_per_deal[p].values()) for p in ("a", "b")}
    # each player deals half of the deals, up to one a game
    assert (per_deal["a"] - per_deal["b"]) * result.deals_per_game / 2 == pytest.approx(result.margin, abs=0.5)
    for player in ("a", "b"):
        assert result.points_per_deal[player]["pone"]["crib"] == result.points_per_deal[player]["pone"]["heels"] == 0


def test_the_same_seed_gives_the_same_match_and_json_holds_all_of_it():
    results = [play_match(make_agent("greedy"), make_agent("random"), 200, seed=4).to_json() for _ in range(2)]
    for result in results:
        assert {"a", "b", "games", "win_rate", "interval", "margin", "seconds"} <= set(result)
        del result["seconds"], result["microseconds_per_decision"]
    assert results[0] == results[1] == json.loads(json.dumps(results[0]), object_hook=_tuples)


def _tuples(found):
    return {key: tuple(value) if isinstance(value, list) else value for key, value in found.items()}


def test_the_table_is_drawn():
    table = match_table(play_match(make_agent("greedy"), make_agent("random"), 20))
    assert table.row_count == 14


@pytest.mark.parametrize("games", [0, 3, -2])
def test_games_come_in_pairs(games):
    with pytest.raises(ValueError, match=f"games={games} is not allowed"):
        play_match(make_agent("greedy"), make_agent("random"), games)


def test_an_agent_that_cheats_is_named():
    class Cheat:
        name = "cheat"

        def act(self, views):
            return views.action_mask.argmin(axis=1)

    with pytest.raises(ValueError, match=r"agent 'cheat' in game .* is not legal"):
        play_match(Cheat(), make_agent("greedy"), 20)


def test_intervals_cover_at_their_rate():
    """Pairs with correlated games: a 95 % interval holds the true rate in about 95 % of matches."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2_000):
        luck = rng.random((400, 1))
        wins = (0.5 * luck + 0.5 * rng.random((400, 2))) < 0.5  # each game is won with chance one half
        low, high = paired_rate_interval(wins.mean(axis=1))
        covered += low <= 0.5 <= high
    assert 0.93 < covered / 2_000 < 0.97


def test_an_interval_is_never_empty():
    low, high = paired_rate_interval(np.ones(100))
    assert 0.9 < low < 1.0 == high


@pytest.mark.slow
def test_greedy_beats_random_in_98_to_99_of_100_games():
    result = play_match(make_agent("greedy"), make_agent("random"), 20_000, seed=5)
    low, high = result.interval
    assert low < 0.9925
    assert high > 0.98


@pytest.mark.slow
def test_random_against_random_is_even():
    result = play_match(make_agent("random:seed=1"), make_agent("random:seed=2"), 200_000, seed=6)
    assert result.interval[0] <= 0.5 <= result.interval[1]
