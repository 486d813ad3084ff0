"""The average policy that NFSP trains, and its agent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from crib_env import PlayerViews
from crib_env.agents.choosing import draw, uniforms
from crib_env.agents.features.seen import Seen
from crib_env.agents.networks.ddqn import DDQNAgent, with_gains
from crib_env.agents.networks.weights_file import save_tensors
from crib_env.kernels import streams
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers


class NFSPAgent:
    """Samples each card from the average policy.

    Args:
        networks: those of Double DQN; here values are logits.
        seed: of the samples, which depend only on it, the game's id and the decision's number.
        greedy: always take the most likely card.
    """

    def __init__(self, networks: DDQNAgent, seed: int = 0, greedy: bool = False, name: str = "nfsp") -> None:
        self.networks, self.name = networks, name
        self.powers = Powers(mixes="known", suits=networks.powers.suits)
        self._seed, self._greedy = streams(seed, 1)[0], greedy

    @classmethod
    def load(cls, path: str | Path, seed: int = 0, greedy: bool = False) -> NFSPAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        networks = DDQNAgent.trained_by("nfsp", path)
        return cls(networks, seed, greedy, networks.name + ",greedy=yes" * greedy)

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, self.networks.state_dict(), {**self.networks.about, "learner": "nfsp"})

    @torch.inference_mode()
    def choose(
        self, observation: np.ndarray, masks: np.ndarray, discards: np.ndarray, numbers: np.ndarray
    ) -> np.ndarray:
        """Samples cards (B,).

        Args:
            observation: (B, n) int8.
            masks: (B, 52) int8, legal cards.
            discards: (B,) bool, which decisions are discards.
            numbers: (B,) random numbers from 0 to 1 that decide.
        """
        seen = self.networks.inputs.see(observation, masks, discards)
        return seen.original(draw(self._chances(seen, discards), numbers))

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        if self._greedy:
            return self.networks.act(views)
        seen = self.networks.inputs.read(views)
        return self.choose(seen, views.action_mask, views.is_discard, uniforms(self._seed, views))

    @torch.inference_mode()
    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.MixedAgent`."""
        if self._greedy:
            return np.eye(N_ACTIONS)[self.networks.act(views)]
        seen = self.networks.inputs.see(self.networks.inputs.read(views), views.action_mask, views.is_discard)
        chances = self._chances(seen, views.is_discard)
        if seen.order is not None:
            cards = (13 * seen.order[:, :, None] + np.arange(13)).reshape(-1, N_ACTIONS)
            relabelled, chances = chances, np.empty_like(chances)
            np.put_along_axis(chances, cards, relabelled, axis=1)
        return chances / chances.sum(axis=1, keepdims=True)

    def _chances(self, seen: Seen, discards: np.ndarray) -> np.ndarray:
        """Probabilities of cards (B, 52) float64; what a card is known to gain is a part of its logit."""
        logits = with_gains(self.networks.outputs(seen.inputs, discards), torch.from_numpy(seen.gains))
        return logits.log_softmax(dim=1).exp().double().numpy()
