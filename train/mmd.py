"""Magnetic mirror descent (Sokota et al. 2023), in a deep form: self-play towards a policy that nobody can exploit.

The paper's update, at every information state s, with its names::

    π_(t+1) = argmax over π of   ⟨Q_t(s, ·), π⟩  −  α KL(π, ρ)  −  1/η KL(π, π_t)

Q_t are the values of the actions when both players follow π_t, ρ is the magnet, α the temperature and η the step size.
The last policy converges, and to the equilibrium as α falls: no average of policies is needed, as in fictitious play.
Here ρ is uniform, so −α KL(π, ρ) is a bonus for entropy, and α falls geometrically during the run.

π is a network, and a round is one step t. All its deals are played with π_t, by both seats; then a gradient step for
each minibatch of decisions ascends the objective above. Q_t comes from a critic, trained on the same minibatches, that
sees both hands and is corrected by the points earned (:mod:`crib_env.train.shared.critic`). So the gradient's mean
is that of ⟨Q_t(s, ·), π⟩. All legal cards enter it. The agent that is measured has the average of the weights of π, and
draws its cards. In whole games (``--episode game``) Q is the win, which counts as the points that are worth it, and the
networks see both scores. The paper's deep experiments are PPO's, with both KLs in place of its clipped ratio and with
the gradient of one action.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import torch

from crib_env.train.loop.run import Round
from crib_env.train.shared.captured import CapturedStep
from crib_env.train.shared.critic import PolicyAndCritic, PolicyAndCriticSettings
from crib_env.train.shared.gradients import mean_of_steps
from crib_env.train.shared.self_play import Played
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.device == "cuda" and self.batch_size > self.episodes_at_once:
            raise ValueError(f"batch_size={self.batch_size} is not allowed on a GPU: give at most episodes_at_once")


MEASURED = "gradient norm", "critic loss", "policy loss", "entropy", "KL", "mean value"


class MMD(PolicyAndCritic):
    """π and its critic, and the paper's update."""

    Settings = MMDSettings

    def __init__(self, settings: MMDSettings) -> None:
        super().__init__("mmd", settings, settings.device)
        self.settings = settings
        self._captured = {
            name: CapturedStep(partial(self.losses_of_columns, name), (self.critic_descents[name], descent))
            for name, descent in self.policy_descents.items()
        }
        self.play(Round.first())

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """One step t; scalars for TensorBoard."""
        settings, played = self.settings, self.play(now)
        returns = played.returns
        share = now.episodes_before / settings.episodes
        temperature = settings.temperature * (settings.final_temperature / settings.temperature) ** share

        def update(name: str, rows: np.ndarray) -> dict[str, float]:
            return self.update(name, played[rows], returns[rows], temperature, now.learning_rate)

        if self.device == "cpu":
            values = self.in_batches(played, now.rng, update)
        else:
            values = self.in_graphs(played, now.rng, temperature, now.learning_rate)
        return values | {"temperature": temperature}

    def losses(self, name: str, batch: Played, returns: Any, temperature: Any) -> tuple[torch.Tensor, ...]:
        """The losses of a critic and of its policy; the entropy, the KL divergence from π_t and the mean value."""
        values, critic_loss = self.judge(name, batch, returns)
        legal = torch.as_tensor(batch.gains, device=self.device) > -torch.inf
        log_pi = self.log_policy(self.online, name, batch)
        pi, change = log_pi.exp() * legal, log_pi - self.policy_of_round(batch)
        minus_entropy, kl = (pi * log_pi).sum(dim=1).mean(), (pi * change).sum(dim=1).mean()
        expected = (pi * values).sum(dim=1).mean()
        loss = temperature * minus_entropy + kl / self.settings.step_size - expected
        return critic_loss, loss, -minus_entropy, kl, expected

    def update(self, name: str, batch: Played, returns: Any, temperature: float, rate: float) -> dict[str, float]:
        """One gradient step of a critic, and one of its policy; their scalars."""
        critic_loss, loss, *others = self.losses(name, batch, returns, temperature)
        self.critic_descents[name].step(critic_loss, rate)
        norm = self.step_policy(name, loss, rate)
        return dict(zip(MEASURED, (norm, *(scalar.item() for scalar in (critic_loss, loss, *others)))))

    def losses_of_columns(self, name: str, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """:meth:`losses` from tensors alone, as a CUDA graph takes them."""
        *columns, returns, temperature = given
        return self.losses(name, Played(*columns), returns, temperature)

    def in_graphs(self, played: Played, rng: np.random.Generator, temperature: float, rate: float) -> dict[str, float]:
        """Goes once through the decisions of a round on a GPU, in whole batches; scalars for TensorBoard.
        ``FloatingPointError`` if a loss or a gradient was no longer finite: the weights are then useless."""
        steps, returns, size = {}, played.returns, self.settings.batch_size
        heat = torch.full((), temperature, device=self.device)
        for name, take in self._captured.items():
            rows = torch.as_tensor(self.in_order(name, played, rng), device=self.device)
            before, found = self.policy_descents[name].steps, []
            for chosen in rows[: len(rows) // size * size].split(size):
                batch = played[chosen]
                found.append(take(rate, *vars(batch).values(), returns[chosen], heat))
                self.follow(name, before + len(found))
            if found:
                measured = torch.stack(found)[:, 1:].cpu()
                if not torch.isfinite(measured).all():
                    raise FloatingPointError(f"a loss or the gradient of policy {name!r} is no longer finite")
                steps[name] = [dict(zip(MEASURED, scalars)) for scalars in measured.tolist()]
        return mean_of_steps(steps)
