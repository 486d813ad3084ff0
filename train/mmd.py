"""Magnetic mirror descent (Sokota et al. 2023), in a deep form: self-play towards a policy that nobody can exploit.

The paper's update, at every information state s, with its names::

    π_(t+1) = argmax over π of   ⟨Q_t(s, ·), π⟩  −  α KL(π, ρ)  −  1/η KL(π, π_t)

Q_t are the values of the actions when both players follow π_t, ρ is the magnet, α the temperature and η the step size.
The last policy converges, and to the equilibrium as α falls: no average of policies is needed, as in fictitious play.
Here ρ is uniform, so −α KL(π, ρ) is a bonus for entropy, and α falls geometrically during the run.

π is a network, and a round is one step t. All its deals are played with π_t, by both seats; then a gradient step for
each minibatch of decisions ascends the objective above. Q_t comes from a critic, trained on the same minibatches, that
sees both hands and is corrected by the points earned (:mod:`crib_env.train.policy_and_critic`). So the gradient's mean
is that of ⟨Q_t(s, ·), π⟩. All legal cards enter it. The agent that is measured has the average of the weights of π, and
draws its cards. In whole games (``--episode game``) Q is the win, which counts as the points that are worth it
(:data:`crib_env.train.self_play.WIN_IN_POINTS`), and the networks see both scores. The paper's deep experiments are
PPO's with both KLs in place of its clipped ratio, and the gradient of one action.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from crib_env.agents.networks.policy import MMDAgent
from crib_env.train.loop.rounds import Round
from crib_env.train.policy_and_critic import PolicyAndCritic, PolicyAndCriticSettings
from crib_env.train.self_play import Played
from crib_env.values import Positive


@dataclass(frozen=True)
class MMDSettings(PolicyAndCriticSettings):
    """Settings of magnetic mirror descent."""

    device: Literal["cpu", "cuda"] = "cpu"
    """Where games and networks are: on the processor, or on the current GPU (extra gpu)."""

    temperature: Positive = 0.3
    """α at the beginning, in points."""
    final_temperature: Positive = 0.03
    """α at the end; it changes geometrically in between."""
    step_size: Positive = 3.0
    """η, for each point."""


class MMD(PolicyAndCritic):
    """π and its critic, and the paper's update."""

    Settings = MMDSettings

    def __init__(self, settings: MMDSettings) -> None:
        super().__init__(MMDAgent, settings, settings.device)
        self.settings = settings
        self.play(Round.first())

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """One step t; scalars for TensorBoard."""
        played, simulated = self.play(now)
        settings, returns = self.settings, played.returns
        share = now.episodes_before / settings.episodes
        temperature = settings.temperature * (settings.final_temperature / settings.temperature) ** share

        def update(name: str, rows: np.ndarray) -> dict[str, float]:
            return self.update(name, played[rows], returns[rows], temperature, now.learning_rate)

        values = self.in_batches(played, now.rng, update)
        return values | {"temperature": temperature} | simulated

    def update(self, name: str, batch: Played, returns: Any, temperature: float, rate: float) -> dict[str, float]:
        """One gradient step of a critic, and one of its policy; their scalars.

        Raises:
            FloatingPointError: a loss is no longer finite.
        """
        values, critic_loss = self.step_critic(name, batch, returns, rate)
        legal = torch.as_tensor(batch.gains, device=self.device) > -torch.inf
        log_pi = self.log_policy(self.online, name, batch)
        pi, change = log_pi.exp() * legal, log_pi - self.policy_of_round(batch)
        minus_entropy, kl = (pi * log_pi).sum(dim=1).mean(), (pi * change).sum(dim=1).mean()
        expected = (pi * values).sum(dim=1).mean()
        loss = temperature * minus_entropy + kl / self.settings.step_size - expected
        return {
            "gradient norm": self.step_policy(name, loss, rate),
            "policy loss": loss.item(),
            "critic loss": critic_loss,
            "entropy": -minus_entropy.item(),
            "KL": kl.item(),
            "mean value": expected.item(),
        }
