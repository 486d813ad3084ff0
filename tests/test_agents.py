"""Agents: the registry, the baselines, and that an agent sees a view and nothing else."""

import numpy as np
import pytest

import crib_env
from crib_env.agents import Agent, make_agent
from crib_env.agents.choosing import RARE
from crib_env.agents.registry import NAMES
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.players.policies import CAREFUL, GREEDY, NATIVE, RANDOM
from tests.helpers.players import player
from tests.helpers.refusals import refused

SEVERAL = ["random", "greedy", "careful", "expert", "ismcts", "uct-determinized", "drqn", "nfsp"]


@pytest.mark.parametrize("name", SEVERAL)
def test_an_agent_drives_a_plain_aec_loop(name):
    agent = player(name)
    assert isinstance(agent, Agent)
    env = crib_env.env()
    env.reset(seed=0)
    for seat in env.agent_iter():
        _, _, terminated, _, _ = env.last()
        env.step(None if terminated else agent.act(env.views(seat))[0])
    assert max(env.scores) == 121
    assert env.agents == []


@pytest.mark.parametrize("policy", [GREEDY, CAREFUL])
def test_an_agent_and_the_native_opponent_of_its_name_choose_alike(policy):
    batch, agent = GameBatch(streams(2, 200)), make_agent(NATIVE[policy])
    while len(rows := batch.acting()):
        cards = agent.act(batch.views(rows))
        np.testing.assert_array_equal(cards, batch.native_cards(rows, policy))
        # Now and then a random card, so that it meets positions that it would not make itself.
        explored = np.random.default_rng(len(rows)).random(len(rows)) < 0.2
        cards[explored] = batch.native_cards(rows[explored], RANDOM)
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
        ("beste", f"there is no agent 'beste': did you mean best? All: {', '.join(NAMES)}"),
        ("nobody", f"there is no agent 'nobody': choose one of {', '.join(NAMES)}"),
        ("random:speed=3", "agent 'random' has no setting 'speed': its settings are seed"),
        ("random:seed=three", "agent 'random': seed='three' is not allowed, give a whole number"),
        ("best:scores=perhaps", "agent 'best': scores='perhaps' is not allowed, give yes or no"),
        ("uct-determinized:iterations=10", "determinizations=20 is not allowed, give 1 to 10, one iteration each"),
        ("greedy:depth=2", "agent 'greedy' has no setting 'depth': it has none"),
        ("ddqn:nowhere/final", "there is no weights file nowhere/final"),
    ],
)
def test_the_error_for_a_bad_name_shows_it(spec, message):
    with refused(message):
        make_agent(spec)


LARGE = "99999999999999999999"
OUT_OF_RANGE = f"""
equilibrium:iterations=0
erring:errs=-1 erring:errs=nan erring:errs=inf
expert:hands={LARGE} expert:threads=-1
ismcts:draw=well ismcts:exploration=-1 ismcts:exploration=nan ismcts:iterations=0 ismcts:iterations={LARGE}
ismcts:show=none ismcts:threads=0
minimax:depth=0 minimax:depth=9
uct-determinized:determinizations=0
"""


@pytest.mark.parametrize("name", ["mmd", "nfsp", "rnad"])
def test_players_that_draw_cards_draw_no_rare_ones(name):
    views = GameBatch(streams(0, 200)).views(np.arange(200))
    chances = player(name).probabilities(views)
    common = chances > 0
    assert (chances >= RARE * chances.max(axis=1, keepdims=True))[common].all()
    assert (common < views.action_mask.astype(bool)).any()  # a legal card that is never drawn
    np.testing.assert_allclose(chances.sum(axis=1), 1)


@pytest.mark.parametrize("spec", OUT_OF_RANGE.split())
def test_a_setting_out_of_its_range_is_named(spec):
    name, _, setting = spec.partition(":")
    key, _, value = setting.partition("=")
    with refused(f"agent '{name}': {key}={value!r} is not allowed"):
        make_agent(spec)


def test_a_folder_that_is_not_a_run_is_named(tmp_path):
    with refused(tmp_path):
        make_agent(str(tmp_path))
