"""Agents that play from a distribution over cards, which a learner of :mod:`crib_env.train` learned.

In games they never draw rare cards, as ``equilibrium`` and ``best`` don't
(:func:`crib_env.agents.choosing.without_rare`; DeepNash plays so too, Perolat et al. 2022). In training they do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import torch

from crib_env import PlayerViews
from crib_env.agents.choosing import draw, uniforms, without_rare
from crib_env.agents.networks.ddqn import DDQNAgent, make_sparse, with_gains
from crib_env.agents.networks.seen import Seen, in_own_suits
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.kernels import streams
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers

Plays = Literal["sample", "mode"]
_LEARNERS = ("mmd", "nfsp", "ppo", "rnad")


class PolicyAgent:
    """Draws each card from the distribution, or takes the most likely one.

    Args:
        learner: who learned it.
        networks: those of Double DQN. Here values, with what a card is known to gain, are logits.
        plays: ``"sample"`` draws cards and ``"mode"`` takes the most likely; ``None`` is the learner's own way.
        seed: of the draws, which depend only on it, the game's id and the decision's number.
    """

    def __init__(self, learner: str, networks: DDQNAgent, plays: Plays | None = None, seed: int = 0) -> None:
        self.networks, self.learner, self.name = networks, learner, learner
        self.plays: Plays = plays or ("mode" if learner == "ppo" else "sample")
        self.powers = Powers(mixes="known", suits=networks.powers.suits)
        self._seed = streams(seed, 1)[0]
        if learner != "ppo":  # whose inputs Stable-Baselines3 makes floating-point numbers
            for network in networks.networks.values():
                make_sparse(network.body)

    @classmethod
    def load(
        cls, path: str | Path, plays: Plays | None = None, seed: int = 0, device: Literal["cpu", "cuda"] = "cpu"
    ) -> PolicyAgent:
        """An agent from a weights file; ``device`` is where its networks compute.

        Raises:
            ValueError: the file is missing, damaged or holds other weights, or there is no GPU; the message says which.
        """
        if device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device='cuda' is not allowed: torch sees no GPU here")
        with reading_weights(path, *_LEARNERS) as file:
            networks = DDQNAgent.read(file)
        networks.module.to(device)
        return cls(file.about["learner"], networks, plays, seed)

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, self.networks.state_dict(), {**self.networks.about, "learner": self.learner})

    def choose(self, seen: Seen, discards: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Draws cards (B,), rare ones too.

        Args:
            discards: (B,) bool, which decisions are discards.
            numbers: (B,) random numbers from 0 to 1 that decide.
        """
        return seen.original(draw(self.chances(seen, discards), numbers))

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        if self.plays == "mode":
            return self.networks.act(views)
        seen = self.networks.inputs.of_views(views)
        return seen.original(draw(without_rare(self.chances(seen, views.is_discard)), uniforms(self._seed, views)))

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        if self.plays == "mode":
            return np.eye(N_ACTIONS)[self.networks.act(views)]
        seen = self.networks.inputs.of_views(views)
        chances = without_rare(self.chances(seen, views.is_discard))
        return chances if seen.order is None else in_own_suits(chances, seen.order)

    def chances(self, seen: Seen, discards: np.ndarray) -> np.ndarray:
        """Probabilities of cards (B, 52) float64, as they are named in ``seen``; ``discards`` (B,) bool."""
        given = (torch.as_tensor(x, device=self.networks.device) for x in (seen.inputs, seen.gains, discards))
        return self.shares(*given).cpu().numpy()

    @torch.no_grad()
    def shares(self, inputs: torch.Tensor, gains: torch.Tensor, discards: torch.Tensor) -> torch.Tensor:
        """The same from tensors and as a tensor, where the networks are."""
        return with_gains(self.networks.outputs(inputs, discards), gains).softmax(dim=1).double()
