"""The registry of observations: each is written alike everywhere, an unknown one is refused, a new one is one entry."""

from __future__ import annotations

from dataclasses import replace

import gymnasium
import numpy as np
import pytest

from crib_env import GameBatch, raw_env, streams
from crib_env.agents import make_agent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.engine import EPISODES
from crib_env.kernels import kernel
from crib_env.observation import N_BITS, OBSERVATIONS, Observation, observation_named
from crib_env.train import ddqn
from tests.helpers import small_settings
from tests.helpers.learner_runs import new_run
from tests.helpers.refusals import refused
from tests.helpers.small_settings import DDQN


@kernel
def write_own_ranks(g, seat, out, row):
    """Which ranks the seat holds, and whether it deals."""
    for rank in range(13):
        out[row, rank] = 0
        for suit in range(4):
            out[row, rank] |= (g["hand"][seat] >> (13 * suit + rank)) & 1
    out[row, 13] = g["dealer"] == seat


@pytest.fixture
def own(monkeypatch):
    """A new observation: one entry, and its writer."""
    entry = Observation("own", 14, write_own_ranks)
    monkeypatch.setitem(OBSERVATIONS, "own", entry)
    return entry


def assert_written_alike(name, episode="game"):
    """From the records of a batch, from views, and in the environment."""
    batch, env = GameBatch(streams(3, 1), episode=episode), raw_env(observation=name, episode=episode)
    env.reset(seed=3)
    env.games[:] = batch.games
    rng, size = np.random.default_rng(0), observation_named(name).size
    for _ in range(60):
        if not len(rows := batch.acting()):
            break
        (seen, masks), views = batch.observe(rows, name), batch.views(rows)
        assert seen.shape == (1, size)
        np.testing.assert_array_equal(views.observed(name), seen)
        np.testing.assert_array_equal(env.observe(env.agent_selection)["observation"], seen[0])
        card = int(rng.choice(np.flatnonzero(masks[0])))
        batch.step(rows, np.array([card]))
        env.step(card)


@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize("name", OBSERVATIONS)
def test_an_observation_is_the_same_everywhere(name, episode):
    assert_written_alike(name, episode)


def test_a_new_one_is_one_entry_and_its_writer(own):
    assert_written_alike("own")
    options = {"observation": "own", "mask": "info", "seat": 0}
    envs = gymnasium.make_vec("crib_env/Cribbage-v0", 3, "vector_entry_point", **options)
    one = gymnasium.make("crib_env/Cribbage-v0", **options)
    seen, _ = envs.reset(seed=[7, 8, 9])
    assert seen.shape == (3, 14)
    np.testing.assert_array_equal(seen[0], one.reset(seed=7)[0])


def test_a_learner_and_its_agents_take_a_new_one(own, tmp_path):
    settings = replace(DDQN, observation="own", inputs="bits", episodes=256, evaluations=0)
    agent, _ = new_run(ddqn, settings, tmp_path)
    agent.save(tmp_path / "own.safetensors")
    loaded = make_agent(f"ddqn:{tmp_path / 'own.safetensors'}")
    batch = GameBatch(streams(4, 20), episode="deal")
    while len(rows := batch.acting()):
        cards = agent.act(batch.views(rows))
        np.testing.assert_array_equal(loaded.act(batch.views(rows)), cards)
        batch.step(rows, cards)


def test_an_unknown_one_is_refused(tmp_path):
    weights = tmp_path / "weights.safetensors"
    agent = DDQNAgent.new("one", "209", "bits", (4,))
    agent.about["observation"] = "own"
    agent.save(weights)
    for ask in (
        lambda: raw_env(observation="own"),
        lambda: gymnasium.make_vec("crib_env/Cribbage-v0", 3, "vector_entry_point", observation="own"),
        lambda: GameBatch(streams(0, 1)).observe(np.arange(1), "own"),
        lambda: observation_named("own"),
        lambda: DDQNAgent.new("one", "own", "bits", (4,)),
        lambda: make_agent(f"ddqn:{weights}"),
        *(lambda one=one: replace(one, observation="own") for one in (DDQN, small_settings.DRQN, small_settings.NFSP)),
    ):
        with refused("observation='own'", "'209', 'board', 'ranks'"):
            ask()


@pytest.mark.parametrize("one", OBSERVATIONS.values(), ids=lambda one: one.name)
def test_one_that_has_the_209_bits_begins_with_them(one):
    batch = GameBatch(streams(5, 50))
    bits, seen = (batch.observe(batch.acting(), name)[0] for name in ("209", one.name))
    assert one.has_bits == (one.size >= N_BITS and bool((seen[:, :N_BITS] == bits).all()))


def test_inputs_that_need_the_209_bits_are_refused_without_them():
    with refused("inputs='ranks'"):
        replace(DDQN, observation="ranks")
