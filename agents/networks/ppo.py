"""The policy that MaskablePPO trains, as plain layers, and its agent."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.features.ranks import N_RANK_INPUTS, with_rank_counts
from crib_env.agents.features.suits import original, relabel
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.observation import N_ACTIONS, SIZES


class RankCounts(nn.Module):
    """Observations (B, n) with rank counts, see :func:`crib_env.agents.features.ranks.with_rank_counts`."""

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """See the class."""
        return with_rank_counts(observation)


class PPOAgent:
    """Plays the legal card with the highest probability.

    Args:
        layers: of the policy, from an observation with rank counts (B, n + 65) to logits (B, 52).
        observation: ``"209"`` or ``"board"``.
        hidden: widths of the hidden layers.
        name: its name in tables.
    """

    def __init__(
        self, layers: Iterable[nn.Module], observation: str, hidden: tuple[int, ...], name: str = "ppo"
    ) -> None:
        self.network = nn.Sequential(RankCounts(), *layers)
        self.about: dict[str, Any] = {"learner": "ppo", "observation": observation, "hidden": list(hidden)}
        self.name = name

    @classmethod
    def new(cls, observation: str, hidden: tuple[int, ...]) -> PPOAgent:
        """An agent with random weights, from torch's generator."""
        widths = (SIZES[observation] + N_RANK_INPUTS, *hidden)
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU()]
        return cls([*layers, nn.Linear(widths[-1], N_ACTIONS)], observation, hidden)

    @classmethod
    def load(cls, path: str | Path) -> PPOAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, "ppo") as file:
            agent = cls.new(file.about["observation"], tuple(file.about["hidden"]))
            file.fill(agent.network)
        agent.name = f"ppo:{path}"
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, self.network.state_dict(), self.about)

    @torch.inference_mode()
    def choose(self, observation: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The best cards (B,) for observations (B, n) and masks (B, 52)."""
        observation, masks, order = relabel(observation, masks)
        logits = self.network(torch.from_numpy(observation).float())
        best = logits.masked_fill(torch.from_numpy(masks == 0), -torch.inf).argmax(dim=1)
        return original(best.numpy(), order)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.agents.agent.Agent`."""
        return self.choose(views.observation if self.about["observation"] == "209" else views.board, views.action_mask)
