"""The recurrent network that DRQN trains, and its agent, which remembers its games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.features.play import N_PLAY_FEATURES, with_play_features
from crib_env.agents.features.ranks import N_RANK_INPUTS, with_rank_counts
from crib_env.agents.features.suits import original, relabel
from crib_env.agents.networks.ddqn import NETWORKS, PHASES, QNetwork, best_legal
from crib_env.agents.networks.recurrent_memory import RecurrentMemory
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.observation import N_ACTIONS, SIZES


class RecurrentQNetwork(nn.Module):
    """Observations, one decision of a player after the other, to the value of each card: an LSTM, then ReLU layers.

    Args:
        n_inputs: length of an observation, of which the first 209 are the 209 bits.
        memory: width of the LSTM.
        hidden: widths of the layers after it.
        networks: ``"one"``, or ``"split"``: separate layers for discards and for the play.
        direct: feed these layers the observation as well as the LSTM's output.
        ranks: add rank counts and, with ``direct``, share a part of the output between the four cards of a rank,
            see :class:`crib_env.agents.networks.ddqn.QNetwork`.
    """

    def __init__(
        self, n_inputs: int, memory: int, hidden: tuple[int, ...], networks: str, direct: bool, ranks: bool
    ) -> None:
        super().__init__()
        self._direct, self._ranks = direct, ranks
        self.lstm = nn.LSTM(n_inputs + N_RANK_INPUTS * ranks, memory, batch_first=True)
        width = n_inputs + memory if direct else memory
        self.layers = nn.ModuleDict({n: QNetwork(width, hidden, ranks and direct) for n in NETWORKS[networks]})

    def remember(
        self, observation: torch.Tensor, state: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """LSTM outputs (B, T, memory) for observations (B, T, n), and the final state, (B, 2, memory).

        ``state`` is the initial state; ``None`` means zeros, as at the start of a game.
        """
        inputs = observation
        if self._ranks:
            inputs = with_rank_counts(observation.flatten(0, 1)).unflatten(0, observation.shape[:2])
        before = None if state is None else tuple(part.unsqueeze(0).contiguous() for part in state.unbind(1))
        outputs, (output, cell) = self.lstm(inputs, before)
        return outputs, torch.stack([output[0], cell[0]], dim=1)

    def values(self, observation: torch.Tensor, remembered: torch.Tensor, discards: torch.Tensor) -> torch.Tensor:
        """Values (D, 52) for observations (D, n), the LSTM's outputs, and whether each is a discard, (D,)."""
        seen = torch.cat([observation, remembered.float()], dim=1) if self._direct else remembered.relu()
        if "all" in self.layers:
            return self.layers["all"](seen)
        values = observation.new_empty(len(observation), N_ACTIONS)
        for phase, rows in zip(PHASES, (discards, ~discards)):
            if rows.any():
                values[rows] = self.layers[phase](seen[rows])
        return values


class DRQNAgent:
    """Plays the card with the highest Q-value, given all that it has seen in this game, or in this deal.

    Args:
        network: of the kind that ``about`` describes.
        about: the arguments of :meth:`new`.
        name: its name in tables.
    """

    remembers = True

    def __init__(self, network: RecurrentQNetwork, about: dict[str, Any], name: str = "drqn") -> None:
        self.network, self.about, self.name = network, about, name
        self._memory = RecurrentMemory(about["memory"], about["lasts"])

    @classmethod
    def new(
        cls,
        *,
        networks: str,
        observation: str,
        memory: int,
        hidden: tuple[int, ...],
        direct: bool,
        features: bool,
        lasts: str,
        skip_forced: bool,
    ) -> DRQNAgent:
        """An agent with random weights, from torch's generator.

        Args:
            networks, memory, hidden, direct: see :class:`RecurrentQNetwork`.
            observation: ``"209"`` or ``"board"``.
            features: add rank counts and the state of the play to the inputs (:mod:`crib_env.agents.features.play`).
            lasts: how long it remembers, a ``"deal"`` or a ``"game"``: as long as the episodes that it learned on.
            skip_forced: whether decisions of the play in which all legal cards share a rank are left out of its memory.
        """
        about = {key: value for key, value in locals().items() if key != "cls"}
        n_inputs = SIZES[observation] + N_PLAY_FEATURES * features
        network = RecurrentQNetwork(n_inputs, memory, tuple(hidden), networks, direct, features)
        return cls(network, {**about, "hidden": list(hidden)})

    @classmethod
    def load(cls, path: str | Path) -> DRQNAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, "drqn") as file:
            agent = cls.new(**{key: value for key, value in file.about.items() if key != "learner"})
            file.fill(agent.network)
        agent.name = f"drqn:{path}"
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, self.network.state_dict(), {"learner": "drqn", **self.about})

    def inputs(self, observation: np.ndarray) -> torch.Tensor:
        """Inputs of the network for observations (…, n) int8."""
        return with_play_features(observation) if self.about["features"] else torch.from_numpy(observation).float()

    @torch.inference_mode()
    def choose(
        self, observation: np.ndarray, masks: np.ndarray, discards: np.ndarray, states: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best cards (B,), and what is remembered after these decisions, (B, 2, memory) float32.

        Args:
            observation: (B, n) int8.
            masks: (B, 52) int8, legal cards.
            discards: (B,) bool, which decisions are discards.
            states: (B, 2, memory) float32, what is remembered before them.
        """
        observation, masks, order = relabel(observation, masks)
        seen = self.inputs(observation)
        remembered, after = self.network.remember(seen[:, None], torch.from_numpy(states))
        values = self.network.values(seen, remembered[:, 0], torch.from_numpy(discards))
        return original(best_legal(values, torch.from_numpy(masks)).numpy(), order), after.float().numpy()

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.agents.agent.Agent`."""
        observation = views.observation if self.about["observation"] == "209" else views.board
        discards = views.is_discard
        places, states = self._memory.recall(views)
        cards = views.action_mask.argmax(axis=1)
        asked = np.arange(len(views))
        if self.about["skip_forced"]:
            legal_ranks = views.action_mask.reshape(-1, 4, 13).any(axis=1).sum(axis=1)
            asked = np.flatnonzero(discards | (legal_ranks > 1))
        if len(asked):
            cards[asked], states[asked] = self.choose(
                observation[asked], views.action_mask[asked], discards[asked], states[asked]
            )
        self._memory.keep(places, states)
        return cards
