"""Games from close positions near the end."""

from dataclasses import replace

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from evaluate.commands.endgames import POSITIONS, play_endgames
from evaluate.matches.mirrored import Shard, play_shard


def test_twenty_close_positions():
    assert len(set(POSITIONS.values())) == len(POSITIONS) == 20
    assert all(1 <= holes <= 30 for position in POSITIONS.values() for holes in position)


def test_games_begin_at_the_given_scores():
    batch = GameBatch(streams(0, 50), first_dealer=1, scores=(110, 97))
    assert (batch.games["scores"] == [110, 97]).all()
    assert (batch.games["dealer"] == 1).all()
    with pytest.raises(ValueError, match="scores"):
        GameBatch(streams(0, 2), scores=(121, 0))


def test_equal_players_split_every_pair():
    won = play_endgames(make_agent("greedy"), make_agent("greedy"), 40, seed=1, threads=2)
    assert all((pairs == 0.5).all() for pairs in won.values())


def test_the_first_of_a_pair_begins_as_dealer_with_the_dealers_score():
    greedy = make_agent("greedy")
    shard = Shard.of(3, 0, 200)
    for position, range_of_wins in (((120, 116), (0.9, 1.0)), ((116, 120), (0.0, 0.2))):  # the win table: 98 % and 9 %
        won = play_shard(greedy, greedy, replace(shard, position=position)).won
        assert range_of_wins[0] <= won[::2].mean() <= range_of_wins[1]
        assert (won[1::2] != won[::2]).all()  # the same games from the other side


def test_a_stronger_player_wins_more():
    won = play_endgames(make_agent("greedy"), make_agent("random"), 400, seed=2, threads=1)
    assert np.mean(won["twenty-five each"]) > 0.55


@pytest.mark.parametrize("games", [0, 3, -2])
def test_games_come_in_pairs(games):
    with pytest.raises(ValueError, match=f"games={games} is not allowed"):
        play_endgames(make_agent("greedy"), make_agent("greedy"), games, seed=0, threads=1)
