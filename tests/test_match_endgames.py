"""Games from close positions near the end."""

import re
from dataclasses import replace

import pytest

from crib_env.agents import make_agent
from crib_env.evaluate.commands.match import POSITIONS, endgames, play_endgames
from crib_env.evaluate.matches.mirrored import Shard, mean_of_pairs, play_shard
from tests.helpers.refusals import refused


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


@pytest.mark.parametrize("games", [0, 3, -2])
def test_games_come_in_pairs(games):
    with refused(f"games={games}"):
        play_endgames(make_agent("greedy"), make_agent("greedy"), games, seed=0, threads=1)
