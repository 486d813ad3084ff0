"""Players win as often as they should against weaker ones."""

import pytest

from crib_env.agents import make_agent
from crib_env.evaluate.matches.match import play_match


@pytest.mark.slow
@pytest.mark.parametrize(
    ("player", "opponent", "games", "seed", "least"),
    [
        ("careful", "greedy", 20_000, 5, 0.53),
        ("expert", "greedy", 2_000, 5, 0.6),  # 65.8 % of 1,000 games were measured
        ("greedy", "random", 20_000, 5, 0.98),
        ("halscrib", "greedy", 4_000, 1, 0.5),
        ("halscrib", "random", 4_000, 1, 0.98),
        ("heuristic", "random", 4_000, 1, 0.9),
        ("ismcts:iterations=1000", "greedy", 4_000, 1, 0.55),
        ("ismcts:iterations=1000", "random", 1_000, 1, 0.98),
        ("minimax", "random", 2_000, 1, 0.95),
        ("uct-determinized:iterations=1000", "random", 1_000, 1, 0.95),
    ],
)
def test_a_player_beats_a_weaker_one(player, opponent, games, seed, least):
    assert play_match(make_agent(player), make_agent(opponent), games, seed).interval[0] > least
