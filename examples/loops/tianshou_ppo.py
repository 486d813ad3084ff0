"""Tianshou: PPO for one player. The networks read the environment's own keys, and the actor applies the mask."""

import gymnasium
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from torch import nn

import crib_env  # noqa: F401 -- registers the ids


class Actor(nn.Module):
    """A masked policy."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(209, 64), nn.Tanh(), nn.Linear(64, 52))

    def forward(self, seen, state=None, info=None):
        """Logits of the cards, and the state as it was."""
        logits = self.layers(torch.as_tensor(seen.observation))
        return logits.masked_fill(~torch.as_tensor(seen.action_mask), -torch.inf), state


class Critic(nn.Module):
    """Values of states."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(209, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, seen, **_):
        """(B, 1)."""
        return self.layers(torch.as_tensor(seen.observation))


def make_env():
    """The environment."""
    return gymnasium.make("crib_env/Cribbage-v0", opponent="greedy", dtype="float32")


policy = DiscreteActorPolicy(actor=Actor(), action_space=make_env().action_space)
learner = PPO(policy=policy, critic=Critic(), optim=AdamOptimizerFactory(lr=1e-3))
collector = Collector(learner, DummyVectorEnv([make_env] * 4), VectorReplayBuffer(1_000, buffer_num=4))
collector.reset()
learner.run_training(
    OnPolicyTrainerParams(
        training_collector=collector,
        test_collector=None,
        max_epochs=1,
        epoch_num_steps=400,
        collection_step_num_env_steps=200,
        update_step_num_repetitions=2,
        batch_size=100,
        verbose=False,
        show_progress=False,
    )
)
print(collector.collect_step, "decisions")
