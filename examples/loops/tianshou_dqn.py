"""Tianshou: DQN for one player. Learners of values play unmasked without the keys `obs` and `mask`."""

import gymnasium
from gymnasium.wrappers import TransformObservation
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import crib_env  # noqa: F401 -- registers the ids


def make_env():
    """The environment."""
    env = gymnasium.make("crib_env/Cribbage-v0", opponent="greedy", dtype="float32", illegal="raise")
    return TransformObservation(env, lambda seen: {"obs": seen["observation"], "mask": seen["action_mask"]}, None)


network = Net(state_shape=209, action_shape=52, hidden_sizes=[64])
policy = DiscreteQLearningPolicy(model=network, action_space=make_env().action_space, eps_training=0.1)
learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), n_step_return_horizon=4, target_update_freq=50)
collector = Collector(
    learner, DummyVectorEnv([make_env] * 4), VectorReplayBuffer(1_000, buffer_num=4), exploration_noise=True
)
collector.reset()
learner.run_training(
    OffPolicyTrainerParams(
        training_collector=collector,
        test_collector=None,
        max_epochs=1,
        epoch_num_steps=400,
        collection_step_num_env_steps=40,
        update_step_num_gradient_steps_per_sample=0.1,
        batch_size=64,
        verbose=False,
        show_progress=False,
    )
)
print(collector.collect_step, "decisions")
