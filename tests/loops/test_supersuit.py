"""SuperSuit's wrappers in PettingZoo's loop, with the mask in the infos: they need a bare Box as observation."""

import pytest

pytest.importorskip("supersuit")

import numpy as np
import supersuit

import crib_env
from tests.helpers.other_loops import blocks_of, run_block

WRAPPERS = {
    "dtype": lambda env: supersuit.dtype_v0(env, np.float32),
    "normalize_obs": lambda env: supersuit.normalize_obs_v0(supersuit.dtype_v0(env, np.float32)),
    "frame_stack": lambda env: supersuit.frame_stack_v1(env, 3),
    "delay_observations": lambda env: supersuit.delay_observations_v0(env, 1),
    "agent_indicator": supersuit.agent_indicator_v0,
    "reshape": lambda env: supersuit.reshape_v0(env, (11, 19)),
    "pad_observations": supersuit.pad_observations_v0,
    "clip_reward": supersuit.clip_reward_v0,
    "reward_lambda": lambda env: supersuit.reward_lambda_v0(env, lambda reward: reward / 10),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_game_under_a_wrapper(name):
    env = WRAPPERS[name](crib_env.raw_env(mask="info"))
    env.reset(seed=1)
    rng, returns = np.random.default_rng(0), dict.fromkeys(env.possible_agents, 0.0)
    for player in env.agent_iter():
        observation, reward, terminated, _, info = env.last()
        assert observation in env.observation_space(player)
        returns[player] += reward
        env.step(None if terminated else int(rng.choice(info["action_mask"].nonzero()[0])))
    assert max(env.unwrapped.scores) == 121
    assert returns["player_0"] == pytest.approx(-returns["player_1"])
    assert returns["player_0"] != 0


@pytest.mark.parametrize("convert", [supersuit.pettingzoo_env_to_vec_env_v1, supersuit.black_death_v3])
def test_wrappers_for_simultaneous_moves_are_refused(convert):
    with pytest.raises(AssertionError, match=r"(?i)parallel"):
        convert(crib_env.raw_env(mask="info"))


def test_sticky_actions_ignore_the_mask():
    env = supersuit.sticky_actions_v0(crib_env.raw_env(mask="info"), 0.999)
    env.reset(seed=1)
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
    with pytest.raises(ValueError, match="is not a legal action"):
        env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))


@pytest.mark.parametrize("block", blocks_of("SuperSuit"))
def test_programs_of_the_page(block):
    run_block(block)
