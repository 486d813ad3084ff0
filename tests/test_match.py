"""Mirrored matches: games, intervals, and that the cut into shards does not matter; ``crib_env.win_rate`` of one."""

import json
import re
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import crib_env
from crib_env.agents import make_agent
from crib_env.evaluate.commands.match import POSITIONS, endgames, play_endgames
from crib_env.evaluate.executors import Cluster
from crib_env.evaluate.files import plain
from crib_env.evaluate.matches import mirrored
from crib_env.evaluate.matches.match import MatchResult, play_games, play_match
from crib_env.evaluate.matches.mirrored import Games, Shard, mean_of_pairs, play_shard
from crib_env.evaluate.statistics import match_points, mean_interval, paired_rate_interval, student_quantile
from crib_env.values import typed
from tests.helpers.refusals import refused
from tests.helpers.vector_games import Cheat, FirstCard, FirstCards


def played(a, b, games, seed=0, **settings):
    return Games.merged(list(play_games(make_agent(a), make_agent(b), games, seed, **settings)))


def test_identical_players_split_every_pair():
    result = play_match(make_agent("greedy"), make_agent("greedy"), 400, seed=1)
    assert result.win_rate == 0.5
    assert result.margin == 0
    assert result.skunks["a"] == result.skunks["b"]


def test_seats_and_sides_do_not_matter():
    one = play_match(make_agent("greedy"), FirstCard(), 600, seed=2)
    two = play_match(FirstCard(), make_agent("greedy"), 600, seed=2)
    assert one.wins + two.wins == 600
    assert one.margin == pytest.approx(-two.margin)
    assert one.skunks["a"] == two.skunks["b"]
    assert one.net_match_points == pytest.approx(-two.net_match_points)


def test_match_points_are_two_for_a_win_and_three_with_a_skunk():
    scores = np.array([[121, 91], [90, 121], [121, 60], [120, 121]])
    assert match_points(scores).tolist() == [[2, 0], [0, 3], [3, 0], [0, 2]]
    result = play_match(make_agent("greedy"), make_agent("random"), 200, seed=3)
    points = 2 * result.wins + result.skunks["a"], 2 * (200 - result.wins) + result.skunks["b"]
    assert result.net_match_points == pytest.approx((points[0] - points[1]) / 200)


@pytest.mark.parametrize(("names", "games"), [(("random", "random:seed=1"), 60), (("halscrib", "greedy"), 8)])
def test_a_match_is_the_same_in_any_shards_on_any_number_of_threads(names, games, monkeypatch):
    whole = played(*names, games, seed=4)
    monkeypatch.setattr(mirrored, "_MOST", games // 5)
    for threads in (1, 3):
        cut = played(*names, games, seed=4, threads=threads)
        for field in ("scores", "deals", "decisions"):
            assert np.array_equal(getattr(cut, field), getattr(whole, field))
    assert np.array_equal(played(*names, games // 2, seed=4).scores, whole.scores[: games // 2])


def test_the_same_seed_gives_the_same_match_and_json_holds_all_of_it():
    results = [play_match(make_agent("greedy"), make_agent("random"), 200, seed=4) for _ in range(2)]
    again = typed(json.loads(json.dumps(plain(results[0]))), MatchResult)
    assert again == results[0]
    for result in results:
        assert result.seconds > 0
        assert result.microseconds_per_decision["a"] > 0
    untimed = [{**plain(result), "seconds": 0, "microseconds_per_decision": {}} for result in results]
    assert untimed[0] == untimed[1]


@pytest.mark.parametrize("games", [0, 3, -2])
def test_games_come_in_pairs(games):
    for play in (play_match, partial(play_endgames, seed=0, threads=1), crib_env.win_rate):
        with refused(f"games={games}"):
            play(make_agent("greedy"), make_agent("random"), games)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_agent_that_cheats_is_named(threads):
    with refused("'cheat'"):
        list(play_games(Cheat(), make_agent("greedy"), 20, threads=threads))


class HoldsALock(FirstCard):
    """Like an agent that talks to a process; it records the threads that call it."""

    name = "holds a lock"

    def __init__(self):
        self.lock, self.askers = threading.Lock(), set()

    def act(self, views):
        self.askers.add(threading.get_ident())
        return super().act(views)


class OneOfItsKind(HoldsALock):
    powers = crib_env.Powers(suits="ties", remembers_discards=False, copyable=False)


def test_an_agent_that_must_not_be_copied_plays_on_one_thread(monkeypatch):
    monkeypatch.setattr(mirrored, "_MOST", 5)
    agent = OneOfItsKind()
    on_threads = Games.merged(list(play_games(make_agent("greedy"), agent, 40, seed=3, threads=4)))
    assert agent.askers == {threading.get_ident()}
    assert np.array_equal(on_threads.scores, Games.merged(list(play_games(make_agent("greedy"), agent, 40, 3))).scores)


def test_an_agent_that_cannot_be_copied_is_named(monkeypatch):
    monkeypatch.setattr(mirrored, "_MOST", 5)
    parts = play_games(make_agent("greedy"), HoldsALock(), 40, threads=2)
    with refused("'holds a lock'", "threads=1"):
        list(parts)


def test_an_agent_that_must_not_be_copied_is_not_sent_to_a_cluster():
    with refused("'holds a lock'"):
        list(play_games(make_agent("greedy"), OneOfItsKind(), 40, cluster=Cluster("", 1, OSError, {})))


def test_a_match_on_threads_that_is_stopped_does_not_play_on(monkeypatch):
    monkeypatch.setattr(mirrored, "_MOST", 5)
    told = []
    parts = play_games(make_agent("greedy"), make_agent("random"), 2_000, threads=2, on_progress=told.append)
    assert [len(next(parts).scores) for _ in range(2)] == [2, 10]
    parts.close()
    at_the_end = sum(told)
    assert 12 <= at_the_end < 2_000


def plain_interval(values):
    """Half the length of the interval of a mean, with every game taken for itself."""
    low, high = mean_interval(values)
    return (high - low) / 2


@pytest.mark.parametrize(("names", "most"), [(("careful", "greedy"), 0.75), (("heuristic", "greedy"), 0.7)])
def test_mirrored_games_have_less_variance(names, most):
    """The variance of a mirrored match's margin, as part of that of as many games on deals of their own."""
    games = played(*names, 4_000, seed=5)
    margins = (games.scores[:, 0] - games.scores[:, 1]).astype(float)
    mirrored_half, plain_half = plain_interval(mean_of_pairs(margins)), plain_interval(margins)
    assert (mirrored_half / plain_half) ** 2 < most


def test_intervals_of_few_values_are_longer():
    tabulated = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 10: 2.228, 30: 2.042, 120: 1.980, 100_000: 1.960}
    for freedom, quantile in tabulated.items():
        assert student_quantile(freedom) == pytest.approx(quantile, rel=1.2e-3)
    low, high = mean_interval(np.array([1.0, 3.0, 5.0]))
    assert (high - low) / 2 == pytest.approx(4.303 * 2 / 3**0.5, rel=1e-3)


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


def test_equal_players_split_every_pair():
    found = play_endgames(make_agent("greedy"), make_agent("greedy"), 40, seed=1, threads=2)
    assert list(found) == list(POSITIONS)
    assert all((mean_of_pairs(games.won) == 0.5).all() for games in found.values())


def test_the_first_of_a_pair_begins_as_dealer_with_the_dealers_score():
    greedy = make_agent("greedy")
    shard = Shard.of(3, 0, 200)
    for position, range_of_wins in (((120, 116), (0.9, 1.0)), ((116, 120), (0.0, 0.2))):  # the win table: 98 % and 9 %
        won = play_shard(greedy, greedy, replace(shard, position=position)).won
        assert range_of_wins[0] <= won[::2].mean() <= range_of_wins[1]
        assert (won[1::2] != won[::2]).all()  # the same games from the other side


def test_a_stronger_player_wins_more():
    found = play_endgames(make_agent("greedy"), make_agent("random"), 400, seed=2, threads=1)
    assert found[25, 25].won.mean() > 0.55


def test_the_command_takes_luck_out(capsys):
    shown = []
    for luck_adjusted in (False, True):
        endgames("careful", "greedy", 20, luck_adjusted=luck_adjusted)
        shown.append(capsys.readouterr().out)
    widths = []
    for table in shown:
        *_, last = (line for line in table.splitlines() if "all" in line)
        rate, low, high = (float(number) for number in re.findall(r"([0-9.]+)%", last))
        assert low < rate < high
        widths.append(high - low)
        assert max(map(len, table.splitlines())) <= 80
    assert widths[1] < widths[0]
    assert "less luck" in shown[1]


def test_a_win_rate_is_that_of_a_match_over_the_same_deals():
    expected = play_match(crib_env.OneAtATime(FirstCards()), make_agent("random"), games=1_060, seed=3)
    result = crib_env.win_rate(FirstCards(), "random", games=1_060, seed=3)
    assert (result.rate, (result.low, result.high), result.games) == (expected.win_rate, expected.interval, 1_060)
    assert re.fullmatch(r"\d+\.\d\d% of 1,060 games \(\d+\.\d\d% to \d+\.\d\d%\)", str(result))


def test_players_of_a_win_rate_and_their_cards_are_checked():
    with refused("opponent=5"):
        crib_env.win_rate("random", 5, 2)
    with refused("'greedie'"):
        crib_env.win_rate("greedie", "random", 2)
    with refused("agent 'cheat' in game 0: "):
        crib_env.win_rate(Cheat(), "random", 2)
    with refused("seed=-1"):
        crib_env.win_rate("random", "random", 2, seed=-1)
    for games in (2.0, True):
        with refused(f"games={games!r}"):
            crib_env.win_rate("random", "random", games)


def test_the_library_alone_measures():
    code = "import crib_env, sys; crib_env.win_rate('random', 'greedy', 2); sys.exit('evaluate' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
