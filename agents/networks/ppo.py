"""The agent that MaskablePPO trains."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.networks.ddqn import DDQNAgent, QNetwork
from crib_env.agents.networks.weights_file import save_tensors


class PPOAgent:
    """Plays the legal card with the highest probability.

    Args:
        networks: one network of the kind that Double DQN trains; here values are logits.
    """

    def __init__(self, networks: DDQNAgent, name: str = "ppo") -> None:
        self.networks, self.name, self.powers = networks, name, networks.powers

    @classmethod
    def new(cls, observation: str, hidden: tuple[int, ...]) -> PPOAgent:
        """An agent with random weights, from torch's generator.

        Args:
            observation: ``"209"`` or ``"board"``.
        """
        return cls(DDQNAgent.new("one", observation, "ranks", hidden))

    @classmethod
    def load(cls, path: str | Path) -> PPOAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        networks = DDQNAgent.trained_by("ppo", path)
        return cls(networks, networks.name)

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, self.networks.state_dict(), {**self.networks.about, "learner": "ppo"})

    @property
    def network(self) -> QNetwork:
        """The only network."""
        return self.networks.networks["all"]

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return self.networks.act(views)
