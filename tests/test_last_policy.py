"""The example `last_policy.py` plays the last policies of runs."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.train import ddqn, mmd, nfsp, rnad, td
from examples.last_policy import last_policy
from tests.helpers import small_settings
from tests.helpers.learner_runs import finished_run, name_of
from tests.helpers.refusals import refused

TWO_CARDS = {"episode": "pegging", "cards": 2, "evaluations": 0}
AVERAGES = {
    td: (small_settings.TD, "average_rate"),
    ddqn: (small_settings.DDQN, "target_rate"),
    mmd: (small_settings.MMD, "average_rate"),
    rnad: (small_settings.RNAD, "average_rate"),
}


@pytest.fixture(scope="module")
def gained():
    """What a best response gains on an agent."""
    game = PlayGame(start=start_of_play(2), threads=1)
    return lambda agent: exploitability(agent, game).mean


@pytest.mark.parametrize("learner", AVERAGES, ids=name_of)
def test_it_is_the_agent_if_the_average_has_only_the_last_weights(learner, gained, tmp_path):
    settings, of_average = AVERAGES[learner]
    for name, rate in ("last", 1.0), ("average", 0.05):
        changed = replace(settings, **TWO_CARDS, **{of_average: rate})
        folder, agent, _ = finished_run(learner, changed, tmp_path / name)
        assert (gained(last_policy(folder.path)) == gained(agent)) == (rate == 1)


def test_that_of_nfsp_is_the_best_response(gained, tmp_path):
    settings = replace(small_settings.NFSP, **TWO_CARDS)
    folder, agent, _ = finished_run(nfsp, settings, tmp_path)
    learner = nfsp.NFSP(settings)
    learner.load_state_dict(folder.load_checkpoint()[0])
    assert gained(last_policy(folder.path)) == gained(learner.best.online) != gained(agent)


def test_a_run_without_a_last_policy_is_refused(tmp_path):
    settings = replace(small_settings.TD, **TWO_CARDS)
    folder, _, _ = finished_run(td, settings, tmp_path / "runs, td")
    assert last_policy(folder.path).name == f"td:{folder.final.with_suffix('')}"
    shutil.rmtree(folder.path / "checkpoints")
    with refused("has no checkpoint"):
        last_policy(folder.path)
    PolicyAgent("ppo", DDQNAgent.new("one", "209", "ranks", (8,))).save(folder.final)
    with refused("is a run of ppo, whose agent plays no average: give one of td, ddqn, mmd, rnad, nfsp"):
        last_policy(folder.path)
