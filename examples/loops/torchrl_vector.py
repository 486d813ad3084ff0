"""TorchRL on the native vector environment, with random legal cards."""

import gymnasium
from torchrl.envs import ActionMask, GymWrapper, TransformedEnv

import crib_env  # noqa: F401 -- registers the ids

envs = gymnasium.make_vec(
    "crib_env/Cribbage-v0", 16, "vector_entry_point", opponent="greedy", dtype="float32", autoreset_mode="Disabled"
)
env = TransformedEnv(GymWrapper(envs, categorical_action_encoding=True), ActionMask())
frames = env.rollout(200, break_when_any_done=False)
print("games:", int(frames["next", "done"].sum()))
