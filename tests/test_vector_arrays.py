"""The native vector environment: its arrays, attributes and copies are independent of each other."""

import copy
import tracemalloc

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import crib_env  # noqa: F401 -- registers the ids
from crib_env.vector.environments import CribbageVectorEnv
from tests.helpers.refusals import refused
from tests.helpers.vector_games import MODES, assert_equal_observations, assert_equal_steps, some_cards


@pytest.mark.parametrize("mode", MODES)
def test_fresh_arrays_by_default_and_the_same_with_copy_false(mode):
    fresh = CribbageVectorEnv(3, autoreset_mode=mode, episode="play")
    reused = CribbageVectorEnv(3, autoreset_mode=mode, episode="play", copy=False)
    rng = np.random.default_rng(0)
    one, two = fresh.reset(seed=4)[0], reused.reset(seed=4)[0]
    kept, finals = [], []
    for _ in range(3):
        kept.append((one, copy.deepcopy(one)))
        before = two
        cards = some_cards(one["action_mask"], rng)
        one, two = fresh.step(cards), reused.step(cards)
        assert_equal_steps(one, two)
        one, two = one[0], two[0]
        assert np.shares_memory(two["observation"], before["observation"])
    while mode == AutoresetMode.SAME_STEP and len(finals) < 2:
        *_, infos = reused.step(some_cards(two["action_mask"], rng))
        if "final_obs" in infos:
            finals.append((infos["final_obs"], copy.deepcopy(infos["final_obs"])))
    for then, now in kept:
        assert_equal_observations(then, now)
    for then, now in finals:
        for a, b in zip(then, now):
            assert (a is None and b is None) or (a["observation"] == b["observation"]).all()


def test_a_step_into_the_own_buffers_allocates_nothing_that_grows_with_the_games():
    peaks = []
    for n in (64, 4096):
        envs = CribbageVectorEnv(n, copy=False)
        _, infos = envs.reset(seed=0)
        for _ in range(3):  # no game ends so soon
            cards = infos["action_mask"].argmax(axis=1)
            tracemalloc.start()
            infos = envs.step(cards)[4]
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        peaks.append(peak)
    few = 2048 if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else 4 * 4096  # the oldest libraries: 3 bytes a game
    assert peaks[1] - peaks[0] < few


def test_shared_attributes_can_be_read():
    envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=3, vectorization_mode="vector_entry_point").unwrapped
    envs.reset(seed=0)
    assert envs.get_attr("action_space") == (gymnasium.spaces.Discrete(52),) * 3
    assert envs.get_attr("observation_space") == (envs.single_observation_space,) * 3
    assert envs.get_attr("render_mode") == (None,) * 3
    assert [spec.id for spec in envs.call("spec")] == ["crib_env/Cribbage-v0"] * 3
    np.testing.assert_array_equal(envs.call("action_masks"), envs.action_masks())
    with refused("'hand'", "render_mode", error=AttributeError):
        envs.call("hand")
