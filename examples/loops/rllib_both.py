"""RLlib: both players, through PettingZoo. The module of one player is the policy of both."""

from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

import crib_env

env = PettingZooEnv(crib_env.raw_env(dtype="float32"))  # for register_env("cribbage", lambda _: ...)
observations, _ = env.reset(seed=0)
for player, seen in observations.items():
    observations, rewards, *_ = env.step({player: int(seen["action_mask"].argmax())})
