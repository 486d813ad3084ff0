"""TorchRL on a vector environment, with random legal cards. It wants one that does not reset by itself: Gymnasium's."""

import gymnasium
from torchrl.envs import ActionMask, GymWrapper, TransformedEnv

import crib_env  # noqa: F401 -- registers the ids

disabled = {"autoreset_mode": gymnasium.vector.AutoresetMode.DISABLED}
envs = gymnasium.make_vec("crib_env/Cribbage-v0", 16, "sync", disabled, opponent="greedy", dtype="float32")
env = TransformedEnv(GymWrapper(envs, categorical_action_encoding=True), ActionMask())
frames = env.rollout(200, break_when_any_done=False)
print("games:", int(frames["next", "done"].sum()))
