"""The policy of PPO: MaskablePPO's, with one logit for each rank, which holds known gains; and its frozen opponent."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution, MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.networks.ddqn import N_RANKS
from crib_env.agents.networks.policy import PPOAgent
from crib_env.observation import N_ACTIONS
from crib_env.train.loop.number_format import Precision, precision


class DistributionByRank(MaskableCategoricalDistribution):
    """One logit for each rank, which its four cards share."""

    def proba_distribution_net(self, latent_dim: int) -> nn.Module:
        """See the class above."""
        return nn.Linear(latent_dim, N_RANKS)


class FastMlp(MlpExtractor):
    """The hidden layers, computed in a precision of choice, for observations of inputs and known gains (B, n + 52).

    The policy's output (B, h + 52) is the last hidden layer and the gains, the value's (B, h) the last hidden layer,
    float32.
    """

    def __init__(self, n_features: int, *args: Any, compute: Precision, **kwargs: Any) -> None:
        super().__init__(n_features - N_ACTIONS, *args, **kwargs)
        self._compute = compute

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """See the class."""
        with precision(self._compute):
            hidden = super().forward_actor(features[:, :-N_ACTIONS]).float()
        return torch.cat([hidden, features[:, -N_ACTIONS:]], dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """See the class."""
        with precision(self._compute):
            return super().forward_critic(features[:, :-N_ACTIONS]).float()


class CribbagePolicy(MaskableActorCriticPolicy):
    """Stable-Baselines3's policy of linear layers, with :class:`FastMlp` for its body.

    What a card is known to gain is a part of its logit, as in NFSP.
    """

    def __init__(self, *args: Any, compute: Precision = "auto", **kwargs: Any) -> None:
        self._compute: Precision = compute
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.action_dist = DistributionByRank(N_ACTIONS)
        self.mlp_extractor = FastMlp(
            self.features_dim, self.net_arch, self.activation_fn, self.device, compute=self._compute
        )

    def _get_action_dist_from_latent(self, latent_pi: torch.Tensor) -> MaskableDistribution:
        """The distribution over cards.

        Raises:
            FloatingPointError: the logits are not finite; torch's own error would print the whole batch.
        """
        outputs = self.action_net(latent_pi[:, :-N_ACTIONS])
        logits = outputs.repeat(1, N_ACTIONS // N_RANKS) + latent_pi[:, -N_ACTIONS:]
        if not torch.isfinite(logits).all():
            raise FloatingPointError("the policy's logits are no longer finite: the weights have diverged")
        return self.action_dist.proba_distribution(action_logits=logits)


class Gradients:
    """The gradients of an optimizer's steps, whose loss and gradients MaskablePPO itself does not check.

    Attributes:
        norms: of the steps, before they are clipped.
    """

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.norms: list[float] = []
        self._squares: list[torch.Tensor] = []
        optimizer.register_step_pre_hook(self._before_step)
        for parameter in optimizer.param_groups[0]["params"]:
            parameter.register_post_accumulate_grad_hook(lambda one: self._squares.append(one.grad.square().sum()))

    def _before_step(self, *_: Any) -> None:
        """Runs before each step.

        Raises:
            FloatingPointError: a gradient is not finite; no weight has changed.
        """
        norm = torch.stack(self._squares).sum().sqrt()
        self._squares.clear()
        if not torch.isfinite(norm):
            raise FloatingPointError("the loss of policy and values has a gradient that is not finite")
        self.norms.append(norm.item())


class FrozenSelf:
    """The agent as it was some rounds ago, as an opponent; ``seconds`` is the time spent on its choices."""

    name = "ppo, frozen"

    def __init__(self, observation: str, hidden: tuple[int, ...]) -> None:
        self._agent = PPOAgent.new(observation, hidden)
        self.network = self._agent.network
        self.seconds = 0.0

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        started = time.perf_counter()
        cards = self._agent.act(views)
        self.seconds += time.perf_counter() - started
        return cards
