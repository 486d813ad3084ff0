"""Tianshou's PettingZoo environment and trainer: Double DQN in one seat, a random player in the other."""

import sys

import pytest

if sys.version_info < (3, 11):
    pytest.skip("needs Python 3.11", allow_module_level=True)
pytest.importorskip("tianshou")

import numpy as np
import torch
from tianshou.algorithm import DQN, MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import crib_env
from tests.helpers.other_loops import blocks_of, run_block

DECISIONS = 12  # in a deal; returns over this many steps cover the whole deal, with the opponent's points


def make_env():
    return PettingZooEnv(crib_env.raw_env(episode="deal", dtype="float32"))


def test_double_dqn_against_a_random_player():
    np.random.seed(0)  # noqa: NPY002 -- Tianshou draws from it
    torch.manual_seed(0)
    env = make_env()
    network = Net(state_shape=209, action_shape=52, hidden_sizes=[64])
    before = [weights.detach().clone() for weights in network.parameters()]
    learner = DQN(
        policy=DiscreteQLearningPolicy(model=network, action_space=env.action_space, eps_training=0.1),
        optim=AdamOptimizerFactory(lr=1e-3),
        n_step_return_horizon=DECISIONS,
        target_update_freq=10,
    )
    opponent = MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space)
    both = MultiAgentOffPolicyAlgorithm(algorithms=[learner, opponent], env=env)
    buffer = VectorReplayBuffer(1_000, buffer_num=4)
    collector = Collector[CollectStats](both, DummyVectorEnv([make_env] * 4), buffer, exploration_noise=True)
    collector.reset()
    both.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=None,
            max_epochs=1,
            epoch_num_steps=20 * DECISIONS,
            collection_step_num_env_steps=4 * DECISIONS,
            update_step_num_gradient_steps_per_sample=0.05,
            batch_size=64,
            verbose=False,
            show_progress=False,
        )
    )
    played = buffer[:]
    assert len(played) == 20 * DECISIONS
    assert played.obs.mask[np.arange(len(played)), played.act.astype(int)].all()
    assert (played.rew.sum(axis=1) == 0).all()
    assert played.rew.any()
    assert played.terminated.sum() == 20
    assert all((old != new).any() for old, new in zip(before, network.parameters()))


@pytest.mark.parametrize("block", blocks_of("Tianshou"))
def test_programs_of_the_page(block):
    run_block(block)
