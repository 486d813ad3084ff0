"""Decisions of a learner's policy in both seats."""

import numpy as np
from torch import nn

from crib_env.gpu.games import TensorGames
from crib_env.kernels import streams
from crib_env.train.shared.self_play import self_play


def played_by(learner, n, seed=1, episode="pegging"):
    """The decisions of n new games, and what policy and critic saw of them."""
    games = TensorGames(streams(seed, n), episode=episode, skip_forced=True)
    return self_play(games, learner.online, np.random.default_rng(0), "float32").numpy()


def silence(critics):
    """Makes critics say that nothing is gained later, of which they learn no more than a constant of each card."""
    for critic in critics.values():
        for parameter in critic.parameters():
            nn.init.zeros_(parameter)
            parameter.requires_grad_(requires_grad=False)
        critic.cards.bias.requires_grad_(requires_grad=True)
