"""Tianshou: both players, through PettingZoo."""

from tianshou.algorithm import MARLRandomDiscreteMaskedOffPolicyAlgorithm as RandomPlayer
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv

import crib_env


def make_env():
    """The environment."""
    return PettingZooEnv(crib_env.raw_env(episode="deal", dtype="float32"))


players = [RandomPlayer(make_env().action_space) for _ in range(2)]  # or DQN with a DiscreteQLearningPolicy
both = MultiAgentOffPolicyAlgorithm(algorithms=players, env=make_env())
collector = Collector(both, DummyVectorEnv([make_env] * 4), VectorReplayBuffer(1_000, buffer_num=4))
collector.reset()
print(collector.collect(n_step=96))
