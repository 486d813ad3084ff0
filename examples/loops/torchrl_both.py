"""TorchRL: both players, through PettingZoo. Each player is a group."""

from torchrl.envs import PettingZooWrapper

import crib_env

env = PettingZooWrapper(crib_env.raw_env(dtype="float32"), use_mask=True)
deal = env.rollout(12)  # random legal cards; with a policy: MaskedCategorical on (player, "action_mask")
print(deal["player_0", "mask"].sum(), deal["next", "player_0", "reward"].sum())
