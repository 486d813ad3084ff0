"""The average policy that NFSP trains, and its agent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from crib_env import PlayerViews
from crib_env.agents.chance import uniforms
from crib_env.agents.features.suits import original, relabel
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.kernels import kernel, streams
from crib_env.observation import N_ACTIONS


@kernel
def _draw(weights, masks, numbers, cards):
    for b in range(len(cards)):
        at = 0.0
        for card in range(masks.shape[1]):
            if masks[b, card]:
                at += weights[b, card]
        at *= numbers[b]
        for card in range(masks.shape[1]):
            if masks[b, card]:
                cards[b] = card  # if rounding leaves a remainder, the last legal card stays
                at -= weights[b, card]
                if at < 0.0:
                    break


def draw(logits: torch.Tensor, masks: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Legal cards by their probability.

    Args:
        logits: (B, 52).
        masks: (B, 52) int8, legal cards.
        numbers: (B,) random numbers from 0 to 1 that decide.

    Returns:
        (B,) int64 card ids.
    """
    weights = legal_log_chances(logits, masks).exp().double().numpy()
    cards = np.empty(len(weights), np.int64)
    _draw(weights, masks, numbers, cards)
    return cards


def legal_log_chances(logits: torch.Tensor, masks: np.ndarray) -> torch.Tensor:
    """Logarithms of the probabilities (B, 52) of cards, for logits (B, 52) and masks (B, 52); -inf if not legal."""
    return logits.masked_fill(torch.from_numpy(masks == 0), -torch.inf).log_softmax(dim=1)


class NFSPAgent:
    """Samples each card from the average policy.

    Args:
        networks: those of Double DQN; here their outputs are logits.
        seed: of the samples, which depend only on it, the game's id and the decision's number.
        greedy: always take the most likely card.
        name: shown in tables.
    """

    def __init__(self, networks: DDQNAgent, seed: int = 0, greedy: bool = False, name: str = "nfsp") -> None:
        self.networks, self.name = networks, name
        self._seed, self._greedy = streams(seed, 1)[0], greedy

    @classmethod
    def load(cls, path: str | Path, seed: int = 0, greedy: bool = False) -> NFSPAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, "nfsp") as file:
            networks = DDQNAgent.described_by(file.about)
            file.fill(torch.nn.ModuleDict(networks.networks))
        return cls(networks, seed, greedy, f"nfsp:{path}" + ",greedy=yes" * greedy)

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
        observation, masks, order = relabel(observation, masks)
        return original(draw(self._logits(observation, discards), masks, numbers), order)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.agents.agent.Agent`."""
        if self._greedy:
            return self.networks.act(views)
        return self.choose(self._observation(views), views.action_mask, views.is_discard, uniforms(self._seed, views))

    @torch.inference_mode()
    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.agents.agent.MixedAgent`."""
        if self._greedy:
            return np.eye(N_ACTIONS)[self.networks.act(views)]
        observation, masks, order = relabel(self._observation(views), views.action_mask)
        chances = legal_log_chances(self._logits(observation, views.is_discard), masks).exp().double().numpy()
        out = np.empty_like(chances)
        np.put_along_axis(out, (13 * order[:, :, None] + np.arange(13)).reshape(-1, N_ACTIONS), chances, axis=1)
        return out / out.sum(axis=1, keepdims=True)

    def _observation(self, views: PlayerViews) -> np.ndarray:
        return views.observation if self.networks.about["observation"] == "209" else views.board

    def _logits(self, observation: np.ndarray, discards: np.ndarray) -> torch.Tensor:
        return self.networks.values(self.networks.inputs(observation), torch.from_numpy(discards))
