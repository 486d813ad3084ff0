"""A policy that both seats play, with a critic that sees both hands: what `mmd` and `rnad` have in common.

A round plays its deals with the policy π_t of its beginning, and then makes a gradient step for each minibatch of its
decisions. The policy sees what its player sees; hidden cards come as often as they are dealt. The critic
(:mod:`crib_env.train.critic`) is only a control variate (Schmid et al. 2019): of the card that was played the points
earned correct it, so its errors have no part in the mean. What a card is known to gain is a part of its logit
(:mod:`crib_env.agents.networks.policy`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from crib_env.agents.networks.ddqn import with_gains
from crib_env.agents.networks.policy import SparsePolicyAgent
from crib_env.gpu.device import Device
from crib_env.train.critic import Critic, CriticSettings
from crib_env.train.loop.learning import (
    Descent,
    Parts,
    by_network,
    follow,
    mean_of_steps,
    precision,
    split_into_batches,
)
from crib_env.train.loop.run import Round
from crib_env.train.self_play import Played, new_games, self_play
from crib_env.values import Share


@dataclass(frozen=True)
class PolicyAndCriticSettings(CriticSettings):
    """Settings of a learner of a policy and its critic."""

    average_rate: Share = 0.005
    """Share of the way to the new weights that the player measured goes after each step: it has their average. After
    n steps it is 9 / (n + 10) if that is more, so that the untrained weights are soon forgotten."""


class PolicyAndCritic(Parts):
    """π in training, with its critic, the average of its weights, and the optimizers.

    Args:
        kind: of the agents.

    Attributes:
        online: has π.
        agent: has the average of the weights.
    """

    def __init__(self, kind: type[SparsePolicyAgent], settings: PolicyAndCriticSettings, device: str = "cpu") -> None:
        self.device = Device(device).torch_device.type
        networks = settings.new_networks()
        for network in networks.networks.values():
            network.to(self.device)
        self.critic = Critic(networks, settings)
        self.online, self.agent = kind(networks), kind(copy.deepcopy(networks), seed=settings.seed)
        self._settings = settings
        self.policy_descents = {name: Descent(net, f"policy {name!r}") for name, net in networks.networks.items()}
        super().__init__(
            policy=networks,
            average=self.agent.networks,
            **by_network("adam", self.policy_descents),
            **self.critic.parts,
        )

    def play(self, now: Round) -> tuple[Played, dict[str, float]]:
        """Plays a round with π in both seats; its decisions, and seconds by their tag."""
        settings = self._settings
        is_game = settings.episode == "game"  # the networks see the scores, too
        games = new_games(now, settings.episode, settings.cards, self.device, skip_forced=True, board=is_game)
        return self_play(games, self.online, now.rng, settings.precision, for_the_win=is_game)

    def in_batches(
        self, played: Played, rng: np.random.Generator, update: Callable[[str, np.ndarray], dict[str, float]]
    ) -> dict[str, float]:
        """Goes once through the decisions of a round; scalars for TensorBoard.

        Args:
            played: D decisions.
            rng: for the order.
            update: makes a gradient step of a network by name with these decisions, (B,) indices.
        """
        steps = {}
        for name in self.policy_descents:
            rows = self.in_order(name, played, rng)
            if len(rows):  # pegging has no discards
                steps[name] = [update(name, batch) for batch in split_into_batches(rows, self._settings.batch_size)]
        return mean_of_steps(steps)

    def in_order(self, name: str, played: Played, rng: np.random.Generator) -> np.ndarray:
        """The decisions of a network, indices in random order."""
        is_discard = torch.as_tensor(played.is_discard).cpu().numpy()
        return rng.permutation(self.online.networks.rows_of(name, is_discard))

    def step_critic(self, name: str, batch: Played, returns: Any, rate: float) -> tuple[torch.Tensor, float]:
        """One gradient step of a critic towards the returns (B,) of the cards played.

        Returns:
            Q of each card (B, 52), without bias whatever the critic's errors are, and the loss.

        Raises:
            FloatingPointError: the loss is no longer finite.
        """
        values, loss = self.judge(name, batch, returns)
        self.critic.descents[name].step(loss, rate)
        return values, loss.item()

    def judge(self, name: str, batch: Played, returns: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Q of each card (B, 52), without bias whatever the critic's errors are, and the loss of the critic."""
        judged = self.critic.errors(name, batch, returns)
        card, chances = (torch.as_tensor(given, device=self.device) for given in (batch.card[:, None], batch.chances))
        chances = chances.gather(1, card)
        return judged.values.scatter_add(1, card, judged.errors / chances), judged.loss

    def log_policy(self, policy: SparsePolicyAgent, name: str, batch: Played) -> torch.Tensor:
        """log π of each card by a policy, (B, 52), 0 for a card that is not legal."""
        gains = torch.as_tensor(batch.gains, device=self.device)
        with precision(self._settings.precision, self.device):
            outputs = policy.networks.networks[name](policy.networks.inputs_of(name, batch.inputs))
        return with_gains(outputs, gains).log_softmax(dim=1).masked_fill(gains == -torch.inf, 0)

    def step_policy(self, name: str, loss: torch.Tensor, rate: float) -> float:
        """One gradient step of π, which the average follows; returns the norm of its gradient.

        Raises:
            FloatingPointError: the loss is no longer finite.
        """
        norm = self.policy_descents[name].step(loss, rate)
        self.follow(name, self.policy_descents[name].steps)
        return norm

    def follow(self, name: str, steps: int) -> None:
        """Moves the average of the weights of π after so many steps."""
        share = max(self._settings.average_rate, 9 / (steps + 10))
        follow(self.agent.networks.networks[name], self.online.networks.networks[name], share)

    def policy_of_round(self, batch: Played) -> torch.Tensor:
        """log π_t of each card, (B, 52), 0 for a card that is not legal."""
        gains, chances = (torch.as_tensor(given, device=self.device) for given in (batch.gains, batch.chances))
        return chances.clamp_min(1e-10).log().masked_fill(gains == -torch.inf, 0)
