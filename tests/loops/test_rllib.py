"""RLlib's PettingZoo environment: PPO with its own action masking, one policy for both seats."""

import pytest

pytest.importorskip("ray.rllib")

import gymnasium
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import crib_env
from tests.helpers.other_loops import blocks_of, run_block


class MaskedPPO(ActionMaskingTorchRLModule):
    """As on the page: RLlib's module reads ``observations``, the environment's key is ``observation``."""

    def __init__(self, *, observation_space, **settings):
        boxes = {"observations": observation_space["observation"], "action_mask": observation_space["action_mask"]}
        super().__init__(observation_space=gymnasium.spaces.Dict(boxes), **settings)

    def _preprocess_batch(self, batch, **_):
        seen = batch[Columns.OBS]
        batch[Columns.OBS] = seen["observation"]
        return seen["action_mask"], batch


@pytest.fixture
def one_process():
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_ppo_by_self_play(one_process):
    register_env("cribbage", lambda _: PettingZooEnv(crib_env.raw_env(episode="deal", dtype="float32")))
    config = (
        PPOConfig()
        .environment("cribbage", disable_env_checking=True)  # it acts without the mask
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"both"}, policy_mapping_fn=lambda agent, episode, **kwargs: "both")
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(rl_module_specs={"both": RLModuleSpec(MaskedPPO)}),
            model_config={"fcnet_hiddens": [64]},
        )
        .training(train_batch_size=240, minibatch_size=60, num_epochs=2)
        .debugging(seed=0)
    )
    algorithm = config.build_algo()
    before = {name: weights.clone() for name, weights in algorithm.get_module("both").state_dict().items()}
    games = algorithm.train()["env_runners"]
    after = algorithm.get_module("both").state_dict()
    algorithm.stop()
    assert games["num_episodes"] == 240 / 12  # decisions in a deal
    assert games["episode_return_min"] == games["episode_return_max"] == 0  # of both players together
    assert games["agent_episode_returns_mean"].keys() == {"player_0", "player_1"}
    assert any((before[name] != after[name]).any() for name in before)


@pytest.mark.parametrize("block", blocks_of("RLlib"))
def test_programs_of_the_page(block):
    run_block(block)
