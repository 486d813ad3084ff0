"""The games in OpenSpiel: its own test of games, and one exploitability by its code and by this project's."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

if sys.version_info < (3, 11):
    pytest.skip("needs Python 3.11", allow_module_level=True)
pytest.importorskip("pyspiel")

import pyspiel
from open_spiel.python.algorithms.cfr import CFRPlusSolver
from open_spiel.python.policy import TabularPolicy

from crib_env import GameBatch, streams
from crib_env.agents import make_agent
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.open_spiel import AgentPolicy
from crib_env.players.tabular import StatePolicy
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from tests.helpers.refusals import refused


def game(cards):
    return pyspiel.load_game(f"crib_pegging(cards={cards})")


@pytest.mark.parametrize("cards", [2, 3, 4])
def test_its_own_test_of_games_passes(cards):
    pyspiel.random_sim_test(game(cards), 3, False, False)


def test_other_numbers_of_cards_are_refused():
    with refused("cards=5", error=pyspiel.SpielError):
        game(5)


def test_both_measure_the_same_exploitability():
    """Of a policy of OpenSpiel's, as an agent here; it has as many information states as there are decisions."""
    table = TabularPolicy(game(2))
    by_key = {key: list(enumerate(table.policy_for_key(key))) for key in table.state_lookup}
    theirs = pyspiel.exploitability(game(2), {key: [(a, p) for a, p in row if p] for key, row in by_key.items()})
    play = PlayGame(start=start_of_play(2), threads=1)
    ours = exploitability(StatePolicy(table.policy_for_key), play)
    assert ours.decisions == len(by_key)
    assert ours.mean == pytest.approx(theirs, abs=1e-9)
    assert ours.mean == pytest.approx(exploitability(make_agent("random"), play).mean, abs=1e-9)


def test_a_table_of_cfr_is_an_agent():
    """Four iterations of OpenSpiel's CFR are nearer to the equilibrium than even play, by both programs."""
    solver = CFRPlusSolver(game(2))
    for _ in range(4):
        solver.evaluate_and_update_policy()
    agent = StatePolicy(solver.average_policy().policy_for_key)
    found = exploitability(agent, PlayGame(start=start_of_play(2), threads=1))
    assert found.decisions == 1_092
    assert 0 < found.mean < 0.1


def test_the_example_runs():
    program = Path(__file__).parents[2] / "examples" / "open_spiel_cfr.py"
    done = subprocess.run(
        [sys.executable, program, "--cfr", "1", "--mccfr", "2048", "--solver", "8"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    even, sampled, solved = (float(line.split()[-1]) for line in done.stdout.splitlines())
    assert even == pytest.approx(0.191801, abs=1e-6)
    assert solved < sampled < even


@pytest.mark.parametrize("name", ["crib_pegging(cards=2)", "liars_dice(dice_sides=3)"])
def test_learners_over_information_states_learn(name):
    """PPO and mirror descent come nearer to the equilibrium than even play, in a game of here and in one of theirs."""
    program = Path(__file__).parents[2] / "examples" / "open_spiel_learners.py"
    done = subprocess.run(
        [sys.executable, program, "--game", name, "--episodes", "4096", "--round", "512"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = dict(line.split() for line in done.stdout.splitlines())
    assert list(found) == ["even:", "ppo:", "mmd:"]
    assert max(float(found["ppo:"]), float(found["mmd:"])) < 0.9 * float(found["even:"])


def test_an_agent_is_a_policy():
    """``greedy`` has no probabilities; ``halscrib`` mixes."""
    agent, state = make_agent("halscrib"), game(4).new_initial_state()
    for hand in (300, 900):
        state.apply_action(hand)
    policy = AgentPolicy(game(4), agent)
    while not state.is_terminal():
        chances = policy.action_probabilities(state)
        assert set(chances) == set(state.legal_actions())
        assert sum(chances.values()) == pytest.approx(1)
        state.apply_action(max(chances, key=chances.get))
    assert sum(state.returns()) == 0


def test_a_policy_plays_legal_cards():
    agent, batch = (
        StatePolicy(TabularPolicy(game(2)).policy_for_key),
        GameBatch(streams(1, 20), episode="pegging", cards=2, skip_forced=True),
    )
    while len(rows := batch.acting()):
        views = batch.views(rows)
        cards = agent.act(views)
        assert views.action_mask[np.arange(len(rows)), cards].all()
        batch.step(rows, cards)
