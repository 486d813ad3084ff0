"""``crib_env.win_rate``: the figures of a match, from the library alone."""

import re
import subprocess
import sys

import pytest

import crib_env
from crib_env.agents import make_agent
from crib_env.evaluate.matches.match import play_match
from tests.helpers.refusals import refused
from tests.helpers.vector_games import Cheat, FirstCards


def test_it_is_the_win_rate_of_a_match_over_the_same_deals():
    expected = play_match(crib_env.OneAtATime(FirstCards()), make_agent("random"), games=1_060, seed=3)
    result = crib_env.win_rate(FirstCards(), "random", games=1_060, seed=3)
    assert (result.rate, (result.low, result.high), result.games) == (expected.win_rate, expected.interval, 1_060)
    assert re.fullmatch(r"\d+\.\d\d% of 1,060 games \(\d+\.\d\d% to \d+\.\d\d%\)", str(result))


@pytest.mark.parametrize("games", [0, 3, -2, 2.0, True])
def test_games_come_in_pairs(games):
    with refused(f"games={games!r}"):
        crib_env.win_rate("random", "random", games)


def test_players_and_their_cards_are_checked():
    with refused("opponent=5"):
        crib_env.win_rate("random", 5, 2)
    with refused("'greedie'"):
        crib_env.win_rate("greedie", "random", 2)
    with refused("agent 'cheat' in game 0: "):
        crib_env.win_rate(Cheat(), "random", 2)
    with refused("seed=-1"):
        crib_env.win_rate("random", "random", 2, seed=-1)


def test_the_library_alone_measures():
    code = "import crib_env, sys; crib_env.win_rate('random', 'greedy', 2); sys.exit('evaluate' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
