"""RLlib: PPO for one player, with a module that reads the mask."""

import gymnasium
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule


class MaskedPPO(ActionMaskingTorchRLModule):
    """RLlib's masking module reads the key `observations`; the environment has `observation`."""

    def __init__(self, *, observation_space, **settings):
        boxes = {"observations": observation_space["observation"], "action_mask": observation_space["action_mask"]}
        super().__init__(observation_space=gymnasium.spaces.Dict(boxes), **settings)

    def _preprocess_batch(self, batch, **_):
        seen = batch[Columns.OBS]
        batch[Columns.OBS] = seen["observation"]
        return seen["action_mask"], batch


ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
config = (
    PPOConfig()
    .environment(
        "crib_env:crib_env/Cribbage-v0",
        env_config={"opponent": "greedy", "dtype": "float32"},
        disable_env_checking=True,
    )
    .env_runners(num_env_runners=1)
    .rl_module(rl_module_spec=RLModuleSpec(MaskedPPO, model_config={"fcnet_hiddens": [64]}))
    .training(train_batch_size=200, minibatch_size=100, num_epochs=1)
)
algorithm = config.build_algo()
print(algorithm.train()["env_runners"]["episode_return_mean"])
algorithm.stop()
ray.shutdown()
