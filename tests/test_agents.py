"""Agents: the registry, the baselines, and that an agent sees a view and nothing else."""

import numpy as np
import pytest

import crib_env
from crib_env.agents import Agent, make_agent
from crib_env.agents.registry import NAMES
from crib_env.batch import GameBatch
from crib_env.kernels import streams

SEVERAL = ["random", "greedy", "careful", "expert:hands=5"]


@pytest.mark.parametrize("name", SEVERAL)
def test_an_agent_drives_a_plain_aec_loop(name):
    agent = make_agent(name)
    assert isinstance(agent, Agent)
    env = crib_env.env()
    env.reset(seed=0)
    for player in env.agent_iter():
        _, _, terminated, _, _ = env.last()
        env.step(None if terminated else agent.act(env.views(player))[0])
    assert max(env.scores) == 121
    assert env.agents == []


def test_greedy_agent_and_greedy_opponent_choose_alike():
    batch = GameBatch(streams(2, 200))
    agent = make_agent("greedy")
    while len(rows := batch.acting()):
        cards = agent.act(batch.views(rows))
        np.testing.assert_array_equal(cards, batch.native_cards(rows, 1))
        batch.step(rows, cards)


def test_random_choices_are_uniform_and_follow_the_seed():
    batch = GameBatch(streams(3, 20_000))
    views = batch.views(batch.acting())
    cards = make_agent("random:seed=1").act(views)
    assert (cards == make_agent("random:seed=1").act(views)).all()
    assert 0.7 < (cards != make_agent("random:seed=2").act(views)).mean() < 0.95  # 5/6 differ
    place = (views.hand == cards[:, None]).argmax(axis=1)
    counts = np.bincount(place, minlength=6)
    assert ((counts - 20_000 / 6) ** 2 / (20_000 / 6)).sum() < 20.5  # chi-square, 5 degrees: p = 0.001


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("beste", f"there is no agent 'beste': did you mean best\\? All: {', '.join(NAMES)}"),
        ("nobody", f"there is no agent 'nobody': choose one of {', '.join(NAMES)}"),
        ("random:speed=3", "agent 'random' has no setting 'speed': its settings are seed"),
        ("random:seed=three", "agent 'random': seed='three' is not allowed, give a whole number"),
        ("greedy:depth=2", "agent 'greedy' has no setting 'depth': it has none"),
        ("ddqn", "agent 'ddqn' needs its path"),
        ("ddqn:nowhere/final", "there is no weights file nowhere/final"),
    ],
)
def test_the_error_for_a_bad_name_shows_it(spec, message):
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        make_agent(spec)


def test_a_folder_that_is_not_a_run_is_named(tmp_path):
    with pytest.raises(ValueError, match="is not the folder of a run"):
        make_agent(str(tmp_path))
