"""The adapter for Stable-Baselines3: the games of its own loop over single environments, and all that it needs."""

import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from crib_env.single_agent import SingleAgentCribbage
from crib_env.train.sb3_vec_env import CribbageVecEnv
from tests.helpers.refusals import refused
from tests.helpers.vector_games import IDS, FirstCard, some_cards


def assert_same_games(adapter, theirs, steps, seed):
    """Plays the same cards in the adapter and in Stable-Baselines3's own ``DummyVecEnv``; how many episodes ended."""
    rng, n_ended = np.random.default_rng(seed), 0
    assert adapter.seed(seed) == theirs.seed(seed)
    one, two = adapter.reset(), theirs.reset()
    for _ in range(steps):
        assert one.dtype == two.dtype == np.int8
        np.testing.assert_array_equal(one, two)
        masks = get_action_masks(adapter)
        np.testing.assert_array_equal(masks, get_action_masks(theirs))
        assert masks.dtype == np.bool_
        cards, kept, before = some_cards(masks, rng), one, one.copy()
        one, rewards, over, infos = adapter.step(cards)
        np.testing.assert_array_equal(kept, before)  # fresh arrays: the learner keeps the last ones
        two, their_rewards, their_over, their_infos = theirs.step(cards)
        assert rewards.dtype == their_rewards.dtype == np.float32
        np.testing.assert_array_equal(rewards, their_rewards)
        np.testing.assert_array_equal(over, their_over)
        for i in range(adapter.num_envs):
            if not over[i]:
                assert infos[i] == {}
                continue
            n_ended += 1
            np.testing.assert_array_equal(infos[i]["terminal_observation"], their_infos[i]["terminal_observation"])
            assert infos[i]["TimeLimit.truncated"] is their_infos[i]["TimeLimit.truncated"] is False
            statistics, theirs_too = infos[i]["episode"], their_infos[i]["episode"]
            assert statistics.keys() == theirs_too.keys() == {"r", "l", "t"}
            assert (statistics["r"], statistics["l"]) == (theirs_too["r"], theirs_too["l"])
            assert 0 <= statistics["t"] < 60
            for key in ("scores", "dealer", "seat", "starter", "illegal_action"):
                assert (key in infos[i]) == (key in their_infos[i])
                np.testing.assert_array_equal(infos[i].get(key), their_infos[i].get(key))
    return n_ended


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"episode": "deal", "opponent": "greedy", "observation": "board"},
        {"episode": "play", "reward": "win", "opponent": FirstCard(), "seat": 1},
        {"reward": "match", "start_spread": 60},
    ],
)
def test_the_games_of_stable_baselines3s_own_loop(options):
    theirs = make_vec_env(SingleAgentCribbage, 4, env_kwargs={"mask": "info", **options}, vec_env_cls=DummyVecEnv)
    assert assert_same_games(CribbageVecEnv(4, **options), theirs, steps=150, seed=11) >= 4


@pytest.mark.parametrize("env_id", IDS)
def test_make_vec_env_takes_the_ids(env_id, monkeypatch):
    """It asks for ``render_mode="rgb_array"``, which needs the extra only when it is drawn."""
    monkeypatch.setitem(sys.modules, "PIL", None)
    envs = make_vec_env(env_id, 4, seed=0)
    assert isinstance(envs.observation_space, gymnasium.spaces.Dict)
    observation = envs.reset()
    for _ in range(5):
        masks = get_action_masks(envs)
        np.testing.assert_array_equal(masks, observation["action_mask"])
        observation, *_ = envs.step(masks.argmax(axis=1))
    assert envs.render_mode == "rgb_array"
    with refused("'render'", error=DependencyNotInstalled):
        envs.env_method("render")


@pytest.mark.parametrize("mask", ["observation", "info"])
@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.filterwarnings("error")
def test_its_checker(env_id, mask):
    check_env(gymnasium.make(env_id, mask=mask))


@pytest.mark.parametrize("env_id", IDS)
def test_a_model_takes_the_id_itself(env_id):
    model = MaskablePPO("MultiInputPolicy", env_id, n_steps=32, batch_size=32, n_epochs=1, seed=0)
    model.learn(64)
    env = gymnasium.make(env_id)
    observation, info = env.reset(seed=0)
    card, _ = model.predict(observation, action_masks=info["action_mask"].astype(bool))
    assert not env.step(card)[4]["illegal_action"]


def test_a_learner_without_masks_loses_by_its_illegal_cards_and_does_not_fail():
    model = PPO("MlpPolicy", CribbageVecEnv(4, episode="play"), n_steps=16, batch_size=32, n_epochs=1, seed=0)
    model.learn(64)
    assert min(episode["r"] for episode in model.ep_info_buffer) < -100


def test_masks_by_every_method_of_the_library():
    envs = CribbageVecEnv(5)
    envs.seed(1)
    envs.reset()
    assert is_masking_supported(envs)
    assert envs.has_attr("action_masks")
    masks = envs.action_masks()
    assert masks.shape == (5, 52)
    assert (masks.sum(axis=1) == 6).all()
    np.testing.assert_array_equal(envs.env_method("action_masks"), masks)
    np.testing.assert_array_equal(envs.env_method("action_masks", indices=[3, 1]), masks[[3, 1]])
    np.testing.assert_array_equal(envs.env_method("action_masks", indices=2), masks[[2]])


def test_seeds_and_options_count_for_one_reset():
    envs = CribbageVecEnv(4)
    envs.seed(5)
    envs.set_options({"first_dealer": 1})
    first = envs.reset()
    envs.seed(5)
    np.testing.assert_array_equal(envs.reset()[:, 1:], first[:, 1:])
    assert (first[:, 0] == 0).all()  # seat 0 is the pone
    assert (envs.reset() != first).any()
    envs.set_options([{"first_dealer": i % 2} for i in range(4)])
    with refused("CribbageVecEnv"):
        envs.reset()


def test_bad_input_is_named():
    with refused("opponent='nobody'"):
        CribbageVecEnv(2, opponent="nobody")
    envs = CribbageVecEnv(2, illegal="raise")
    envs.reset()
    masks = envs.action_masks()
    with refused("game 1: "):
        envs.step(np.array([masks[0].argmax(), masks[1].argmin()]))
    np.testing.assert_array_equal(envs.action_masks(), masks)


def test_wrappers_callbacks_and_evaluation_of_stable_baselines3(tmp_path):
    envs = VecNormalize(CribbageVecEnv(16, episode="deal"))
    model = MaskablePPO("MlpPolicy", envs, n_steps=12, batch_size=96, n_epochs=1, seed=0)
    model.learn(16 * 12 * 2)
    assert model.ep_info_buffer[0]["l"] == 6
    model.save(tmp_path / "model")
    again = MaskablePPO.load(tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # among others, that statistics are missing
        games = CribbageVecEnv(8, episode="deal")
        means = [evaluate_policy(either, games, n_eval_episodes=8)[0] for either in (model, again)]
    assert -40 < means[0] < 40
