"""R-NaD, regularised Nash dynamics (Perolat et al. 2021; 2022, DeepNash): self-play with a reference policy that moves.

The papers' game has other rewards than cribbage. With their names, where a player i decides and lays the card a::

    r^i − η log π(a) / π_reg(a)  for i,    r^−i + η log π(a) / π_reg(a)  for its opponent −i

It is zero-sum still, and replicator dynamics converge in it. Where they end, π_reg becomes that policy, and so on:
these ends come ever closer to an equilibrium. The dynamics are NeuRD's (Hennes et al. 2020): the logit of each card
follows its advantage, however unlikely the card is, unless the logit would leave ±β around the mean of the logits.

A step m of the outer loop takes Δ episodes. At its end the target network, which follows the weights of π, becomes
π_(m+1,reg). After n of its episodes the reference is between the last two::

    log π_reg = α log π_(m,reg) + (1 − α) log π_(m−1,reg),    α = min(1, 2 n / Δ)

Values are those of v-trace. As π itself has played the round, the weights ρ and c are 1, and nothing is cut off. In
place of the papers' v(o) a critic has a value Q of each card and sees both hands
(:mod:`crib_env.train.shared.critic`), in the game with these rewards. At each decision to come, of either player,
Σ π Q − Q(a) takes the luck of that draw out of the return: its mean is 0 (Schmid et al. 2019).

The player measured has the average of the weights of π, as the target network, but forgets untrained ones sooner, and
draws its cards. References that forget so soon would leave it more exploitable. Not here, but in DeepNash: Adam without
momentum, and a policy that is rounded, and plays no unlikely card, at the end.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from crib_env.train.loop.run import Round
from crib_env.train.loop.settings import Count, NotNegative
from crib_env.train.shared.critic import PolicyAndCritic, PolicyAndCriticSettings
from crib_env.train.shared.gradients import follow
from crib_env.train.shared.self_play import Played
from crib_env.values import Positive


@dataclass(frozen=True)
class RNaDSettings(PolicyAndCriticSettings):
    """Settings of R-NaD."""

    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play alone, without a crib."""

    learning_rate: NotNegative = 1e-2
    regularization: Positive = 0.2
    """η, in points."""
    references: Count = 20
    """Steps of the outer loop: how many reference policies there are, one after the other."""
    logit_bound: Positive = 10.0
    """β: how far from their mean logits are pushed."""
    advantage_bound: Positive = 10.0
    """Advantages are clipped to this size, in points."""


class RNaD(PolicyAndCritic):
    """π and its critic, the two last reference policies, and the update."""

    Settings = RNaDSettings

    def __init__(self, settings: RNaDSettings) -> None:
        super().__init__("rnad", settings)
        self.settings = settings
        self.target, self.reference, self.last_reference = (copy.deepcopy(self.agent) for _ in range(3))
        others = {"target": self.target, "reference": self.reference, "last reference": self.last_reference}
        self._parts |= {name: policy.networks for name, policy in others.items()}
        self.play(Round.first())

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """A round; scalars for TensorBoard."""
        played, settings = self.play(now).numpy(), self.settings
        steps = settings.references / settings.episodes  # of the outer loop, in each episode
        if int(now.episodes_before * steps) > int((now.episodes_before - settings.episodes_at_once) * steps):
            self.last_reference.networks.load_state_dict(self.reference.networks.state_dict())
            self.reference.networks.load_state_dict(self.target.networks.state_dict())
        log_reg = self.log_reference(played, alpha=min(1.0, 2 * (now.episodes_before * steps % 1)))
        returns = played.returns + self.later(played, log_reg)

        def update(name: str, rows: np.ndarray) -> dict[str, float]:
            return self.update(name, played[rows], returns[rows], log_reg[rows], now.learning_rate)

        return self.in_batches(played, now.rng, update)

    @torch.no_grad()
    def of_each_card(self, played: Played, found_by: Callable[[str, Played], torch.Tensor]) -> np.ndarray:
        """What is found of each card (B, 52) at the decisions of each network, together: (D, 52) float32."""
        out = np.zeros_like(played.gains)
        for name in self.policy_descents:
            rows = self.online.networks.rows_of(name, played.is_discard)
            if len(rows):
                out[rows] = found_by(name, played[rows]).numpy()
        return out

    def log_reference(self, played: Played, alpha: float) -> np.ndarray:
        """log π_reg of each card up to a constant of each decision, (D, 52) float32, 0 for a card that is not legal."""

        def found_by(name: str, batch: Played) -> torch.Tensor:
            new = self.log_policy(self.reference, name, batch)
            return self.log_policy(self.last_reference, name, batch).lerp(new, alpha) if alpha < 1 else new

        return self.of_each_card(played, found_by)

    def later(self, played: Played, log_reg: np.ndarray) -> np.ndarray:
        """What regularisation pays for the decisions after each, less the luck of their draws, (D,) float32.

        With Q_η(a) = Q(a) − η log π(a) / π_reg(a), a decision adds Q_η(a) − Q(a) and Σ π Q_η − Q_η(a) for its player.
        """
        q = self.of_each_card(played, self.values)
        ratio = np.log(np.maximum(played.chances, 1e-10)) - log_reg
        state = (played.chances * (q - self.settings.regularization * ratio)).sum(axis=1)
        adds = state - q[np.arange(len(q)), played.card]
        game, sign = played.chain // 2, 1 - 2 * (played.chain % 2)
        after, out = np.zeros(game[-1] + 1, np.float32), np.empty(len(game), np.float32)  # after: to the first seat
        for turn in range(played.turn.max(), -1, -1):
            rows = np.flatnonzero(played.turn == turn)  # at most one decision of each game
            out[rows] = sign[rows] * after[game[rows]]
            after[game[rows]] += sign[rows] * adds[rows]
        return out

    def update(
        self, name: str, batch: Played, returns: np.ndarray, log_reg: np.ndarray, rate: float
    ) -> dict[str, float]:
        """One gradient step of a critic, and one of its policy; their scalars."""
        settings = self.settings
        values, critic_loss = self.judge(name, batch, returns)
        self.critic_descents[name].step(critic_loss, rate)
        legal = torch.from_numpy(batch.gains) > -torch.inf
        log_pi = self.log_policy(self.online, name, batch)
        centred = (log_pi - log_pi.sum(dim=1, keepdim=True) / legal.sum(dim=1, keepdim=True)) * legal
        log_pi = log_pi.detach()
        pi, ratio = log_pi.exp() * legal, log_pi - torch.from_numpy(log_reg)
        q = values - settings.regularization * ratio
        advantages = (q - (pi * q).sum(dim=1, keepdim=True)).clip(-settings.advantage_bound, settings.advantage_bound)
        inside = centred.detach() * advantages.sign() < settings.logit_bound
        loss = -(centred * advantages * inside).sum(dim=1).mean()
        norm = self.step_policy(name, loss, rate)
        follow(self.target.networks.networks[name], self.online.networks.networks[name], settings.average_rate)
        means = {
            "entropy": -pi * log_pi,
            "KL": pi * (log_pi - self.policy_of_round(batch)),
            "KL from reference": pi * ratio,
            "mean value": pi * values,
        }
        measured = {key: value.sum(dim=1).mean().item() for key, value in means.items()}
        return {"gradient norm": norm, "policy loss": loss.item(), "critic loss": critic_loss.item(), **measured}
