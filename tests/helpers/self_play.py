"""Decisions of a learner's policy in both seats."""

import numpy as np
from torch import nn

from crib_env.train.experience import play_episodes
from crib_env.train.self_play import SelfPlay


def played_by(learner, games):
    """The decisions of new games, and what policy and critic saw of them."""
    policy = SelfPlay(learner.online, games, np.random.default_rng(0))
    decisions = play_episodes(games, policy, None, "209").decisions
    return decisions, policy.played()


def silence(critics):
    """Makes critics say that nothing is gained later, of which they learn no more than a constant of each card."""
    for critic in critics.values():
        for parameter in critic.parameters():
            nn.init.zeros_(parameter)
            parameter.requires_grad_(requires_grad=False)
        critic.cards.bias.requires_grad_(requires_grad=True)
