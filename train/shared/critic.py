"""A policy that both seats play, and a critic that sees both hands: what `mmd` and `rnad` have in common.

The critic is a history value function: for each card the points from a decision to the end of the deal, own minus the
opponent's, when both seats play the policy in training. It sees the opponent's cards too (a centralised critic: Lowe et
al. 2017), so only the choices to come are left to chance. Rewards leave out the luck that no decision controls, and
what a card is known to gain is a part of its value, as in :mod:`crib_env.train.ddqn`. First layers add up weights
(:mod:`crib_env.agents.networks.ddqn`), so they may be wide; the others are narrow.

A round plays its deals with the policy π_t of its beginning, and then makes a gradient step for each minibatch of its
decisions. The critic is only a control variate (Schmid et al. 2019): of the card that was played the points earned
correct it, so its errors have no part in the mean.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from crib_env.agents.networks.ddqn import DDQNAgent, QNetwork, make_sparse, with_gains
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.gpu.device import Device
from crib_env.observation import N_ACTIONS
from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, LearningSettings, NotNegative, PeggingCards, Widths
from crib_env.train.shared.gradients import Descent, Parts, batches_of, follow, mean_of_steps, precision
from crib_env.train.shared.self_play import Played, new_games, self_play
from crib_env.values import Share


@dataclass(frozen=True)
class PolicyAndCriticSettings(LearningSettings):
    """Settings of a learner of a policy and its critic."""

    episode: Literal["deal", "pegging", "game"] = "deal"
    """What an episode is: a deal, the play alone, without a crib, or a game, whose reward is the win."""
    cards: PeggingCards = 4
    """Cards of each player in pegging."""
    hidden: Widths = (256, 64)
    """Widths of the hidden layers of the policy and of the critic for the play."""
    hidden_discard: Widths = (128, 64)
    """The same for discards."""
    episodes: Count = 2_048_000
    """Episodes to play."""
    episodes_at_once: Count = 2_048
    """Episodes in a round, played side by side."""
    batch_size: Count = 1_024
    """Decisions in a gradient step."""
    learning_rate: NotNegative = 6e-3
    """Initial learning rate of Adam, for policy and critic."""
    average_rate: Share = 0.005
    """Share of the way to the new weights that the player measured goes after each step: it has their average. After
    n steps it is 9 / (n + 10) if that is more, so that the untrained weights are soon forgotten."""


class PolicyAndCritic(Parts):
    """π, which ``online`` has, its critic, the average of its weights, which ``agent`` has, and the optimizers."""

    def __init__(self, learner: str, settings: PolicyAndCriticSettings, device: str = "cpu") -> None:
        self.device = Device(device).torch_device.type
        observation = "board" if settings.episode == "game" else "209"
        networks = DDQNAgent.new("split", observation, "ranks", settings.hidden, settings.hidden_discard)
        networks.module.to(self.device)
        self.critics: dict[str, QNetwork] = {}
        for name, widths in (("discard", settings.hidden_discard), ("play", settings.hidden)):
            n_seen = len(range(networks.inputs.size)[networks.inputs.columns(name)])
            self.critics[name] = QNetwork(n_seen + N_ACTIONS, widths, by_rank=True)
            make_sparse(self.critics[name].body)
            self.critics[name].to(self.device)
        self.critic_descents = {name: Descent(network, f"critic {name!r}") for name, network in self.critics.items()}
        self.online = PolicyAgent(learner, networks)
        self.agent = PolicyAgent(learner, copy.deepcopy(networks), seed=settings.seed)
        self._settings = settings
        self.policy_descents = {name: Descent(net, f"policy {name!r}") for name, net in networks.networks.items()}
        adam = {"adam": self.policy_descents, "critic_adam": self.critic_descents}
        super().__init__(policy=networks, average=self.agent.networks, critic=self.critics, **adam)

    def play(self, now: Round) -> Played:
        """Plays a round with π in both seats."""
        settings = self._settings
        is_game = settings.episode == "game"  # the networks see the scores, too
        games = new_games(now, settings.episode, settings.cards, self.device, skip_forced=True, board=is_game)
        return self_play(games, self.online, now.rng, settings.precision, for_the_win=is_game)

    def in_batches(
        self, played: Played, rng: np.random.Generator, update: Callable[[str, np.ndarray], dict[str, float]]
    ) -> dict[str, float]:
        """Goes once through the decisions of a round, in random order; scalars for TensorBoard. ``update`` makes a
        gradient step of a network by name with these decisions, (B,) indices."""
        steps = {}
        for name in self.policy_descents:
            rows = self.in_order(name, played, rng)
            if len(rows):  # pegging has no discards
                steps[name] = [update(name, batch) for batch in batches_of(rows, self._settings.batch_size)]
        return mean_of_steps(steps)

    def in_order(self, name: str, played: Played, rng: np.random.Generator) -> np.ndarray:
        """The decisions of a network, indices in random order."""
        is_discard = torch.as_tensor(played.is_discard).cpu().numpy()
        return rng.permutation(self.online.networks.rows_of(name, is_discard))

    def tensor(self, given: Any) -> torch.Tensor:
        """An array or a tensor as a tensor where the networks are."""
        return torch.as_tensor(given, device=self.device)

    def values(self, name: str, batch: Played) -> torch.Tensor:
        """The critic's Q of each card, (B, 52), 0 for a card that is not legal."""
        gains = self.tensor(batch.gains)
        inputs = self.online.networks.inputs_of(name, batch.inputs)
        with precision(self._settings.precision, self.device):
            values = self.critics[name](torch.cat([inputs, self.tensor(batch.others)], dim=1))
        return (values + gains).masked_fill(gains == -torch.inf, 0)

    def judge(self, name: str, batch: Played, returns: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Q of each card (B, 52), without bias whatever the critic's errors are, and the loss of the critic, from the
        returns (B,) of the cards played."""
        values, card = self.values(name, batch), self.tensor(batch.card)[:, None]
        errors = self.tensor(returns)[:, None] - values.gather(1, card)
        corrections = errors.detach() / self.tensor(batch.chances).gather(1, card)
        return values.detach().scatter_add(1, card, corrections), errors.square().mean()

    def log_policy(self, policy: PolicyAgent, name: str, batch: Played) -> torch.Tensor:
        """log π of each card by a policy, (B, 52), 0 for a card that is not legal."""
        gains = self.tensor(batch.gains)
        with precision(self._settings.precision, self.device):
            outputs = policy.networks.networks[name](policy.networks.inputs_of(name, batch.inputs))
        return with_gains(outputs, gains).log_softmax(dim=1).masked_fill(gains == -torch.inf, 0)

    def step_policy(self, name: str, loss: torch.Tensor, rate: float) -> float:
        """One gradient step of π, which the average follows; returns the norm of its gradient."""
        norm = self.policy_descents[name].step(loss, rate)
        self.follow(name, self.policy_descents[name].steps)
        return norm

    def follow(self, name: str, steps: int) -> None:
        """Moves the average of the weights of π after so many steps."""
        share = max(self._settings.average_rate, 9 / (steps + 10))
        follow(self.agent.networks.networks[name], self.online.networks.networks[name], share)

    def policy_of_round(self, batch: Played) -> torch.Tensor:
        """log π_t of each card, (B, 52), 0 for a card that is not legal."""
        return self.tensor(batch.chances).clamp_min(1e-10).log().masked_fill(self.tensor(batch.gains) == -torch.inf, 0)
