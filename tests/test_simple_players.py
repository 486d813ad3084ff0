"""What the equilibrium among simple players wins from agents of the pegging game, exactly, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.agents.asked import Questions
from crib_env.agents.belief import simple_policy
from crib_env.engine import ROLES
from crib_env.solver.cfr import PlaySolver, Population
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.solver.sweeps import EXPECTED

ITERATIONS = 12
SHARES = (0.0, 0.1, 0.2, 0.4, 0.6)
AGENTS = ("greedy", "careful", "best")


@pytest.mark.slow
def test_the_larger_the_share_the_more_is_won_and_the_more_it_costs():
    game = PlayGame(threads=1)
    simple = simple_policy(game, start_of_play())
    found = {}
    for share in SHARES:
        solver = PlaySolver(game, Population(game, simple, share) if share else None)
        for _ in range(ITERATIONS):
            solver.iterate()
        found[share] = [solver.best_responses().nash_conv / 2, _won(game, solver.average, simple)], solver.average
    for name in AGENTS:
        agent, policy = make_agent(name), np.zeros(game.extent.slots, np.float32)
        questions = Questions(agent, game)
        for role in range(len(ROLES)):
            questions.add_policy(role, 0, policy)
        for figures, average in found.values():
            figures.append(_won(game, average, policy))
    print("\nshare, exploitability, won from simple players,", ", ".join(AGENTS))
    for share, (figures, _) in found.items():
        print(share, " ".join(f"{figure:.4f}" for figure in figures))
    cost, *won = np.array([figures for figures, _ in found.values()]).T
    assert (np.diff(cost) > 0).all()
    assert (np.diff(won[0]) > 0).all()
    assert all(gain[SHARES.index(0.4)] > gain[0] for gain in won)


def _won(game: PlayGame, policy: np.ndarray, other: np.ndarray) -> float:
    """Net points a deal, the mean of both roles."""
    return sum(game.earned(policy, other, role, EXPECTED) for role in range(len(ROLES))) / len(ROLES)
