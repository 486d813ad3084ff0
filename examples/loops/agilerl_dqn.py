"""AgileRL: DQN on the native vector environment, which reads the mask from the infos."""

import gymnasium
from agilerl.algorithms import DQN
from agilerl.components import ReplayBuffer
from agilerl.training.train_off_policy import train_off_policy

import crib_env  # noqa: F401 -- registers the ids

envs = gymnasium.make_vec(
    "crib_env/Cribbage-v0",
    num_envs=16,
    vectorization_mode="vector_entry_point",
    mask="info",
    autoreset_mode="SameStep",
)
agent = DQN(envs.single_observation_space, envs.single_action_space)
train_off_policy(
    envs, "cribbage", "DQN", [agent], ReplayBuffer(max_size=5_000), max_steps=160, evo_steps=160, eval_steps=5
)
