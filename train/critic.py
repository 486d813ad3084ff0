"""A critic that sees both hands: the value of each card, a history value function.

It predicts the points from a decision to the end of the deal, own minus the opponent's, when both seats play the policy
in training. It sees the opponent's cards too (a centralised critic: Lowe et al. 2017), so only the choices to come are
left to chance. Rewards leave out the luck that no decision controls, and what a card is known to gain is a part of its
value, as in :mod:`crib_env.train.ddqn`. First layers add up weights (:mod:`crib_env.agents.networks.ddqn`), so they
may be wide; the others are narrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from crib_env.agents.networks.ddqn import DDQNAgent, QNetwork, make_sparse
from crib_env.observation import N_ACTIONS
from crib_env.train.loop.learning import (
    Count,
    Descent,
    LearningSettings,
    NotNegative,
    PeggingCards,
    Stateful,
    Widths,
    by_network,
    precision,
)
from crib_env.train.self_play import Played


@dataclass(frozen=True)
class CriticSettings(LearningSettings):
    """Settings of a learner with a critic."""

    preset: Literal["default"] = "default"
    """The only preset."""
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

    def new_networks(self) -> DDQNAgent:
        """Networks of a policy, with random weights from torch's generator."""
        observation = "board" if self.episode == "game" else "209"
        return DDQNAgent.new("split", observation, "ranks", self.hidden, self.hidden_discard)


class Judged(NamedTuple):
    """What the critic says of B decisions."""

    values: torch.Tensor  # (B, 52), of each card
    errors: torch.Tensor  # (B, 1), by how much the return of the card played was more
    loss: torch.Tensor  # ()


class Critic:
    """The critic's networks, one for each of a policy's, and their optimizers.

    Args:
        policy: networks of a policy, by whose inputs decisions are seen.
    """

    def __init__(self, policy: DDQNAgent, settings: CriticSettings) -> None:
        self._policy, self._precision = policy, settings.precision
        self.networks: dict[str, QNetwork] = {}
        for name, widths in (("discard", settings.hidden_discard), ("play", settings.hidden)):
            n_seen = len(range(policy.inputs.size)[policy.inputs.columns(name)])
            self.networks[name] = QNetwork(n_seen + N_ACTIONS, widths, by_rank=True)
            make_sparse(self.networks[name].body)
            self.networks[name].to(policy.device)
        self.descents = {name: Descent(network, f"critic {name!r}") for name, network in self.networks.items()}

    @property
    def parts(self) -> dict[str, Stateful]:
        """What a checkpoint saves of it."""
        return {**by_network("critic", self.networks), **by_network("critic adam", self.descents)}

    def judge(self, name: str, batch: Played) -> torch.Tensor:
        """Q of each card, (B, 52), 0 for a card that is not legal."""
        gains, others = (torch.as_tensor(given, device=self._policy.device) for given in (batch.gains, batch.others))
        inputs = self._policy.inputs_of(name, batch.inputs)
        with precision(self._precision, gains.device.type):
            values = self.networks[name](torch.cat([inputs, others], dim=1))
        return (values + gains).masked_fill(gains == -torch.inf, 0)

    @torch.no_grad()
    def judge_all(self, played: Played) -> np.ndarray:
        """Q of each card at the decisions of a round, (D, 52) float32, 0 for a card that is not legal."""
        q = np.zeros_like(played.gains)
        for name in self.networks:
            rows = self._policy.rows_of(name, played.is_discard)
            if len(rows):
                q[rows] = self.judge(name, played[rows]).numpy()
        return q

    def step(self, name: str, batch: Played, returns: Any, rate: float) -> Judged:
        """One gradient step towards the returns (B,) of the cards played.

        Raises:
            FloatingPointError: the loss is no longer finite.
        """
        judged = self.errors(name, batch, returns)
        self.descents[name].step(judged.loss, rate)
        return judged

    def errors(self, name: str, batch: Played, returns: Any) -> Judged:
        """How far the values of the cards played are from their returns (B,)."""
        values = self.judge(name, batch)
        returns, card = (torch.as_tensor(given, device=values.device) for given in (returns, batch.card))
        errors = returns[:, None] - values.gather(1, card[:, None])
        return Judged(values.detach(), errors.detach(), errors.square().mean())
