"""The recurrent network that DRQN trains, and its agent, which remembers its games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.features.seen import Coding, Inputs, Seen
from crib_env.agents.networks.ddqn import NETWORKS, QNetwork, with_gains
from crib_env.agents.networks.networks_by_phase import PHASES
from crib_env.agents.networks.recurrent_memory import RecurrentMemory
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers


class RecurrentQNetwork(nn.Module):
    """Inputs, one decision of a player after the other, to the value of each card: an LSTM, then ReLU layers.

    Args:
        n_inputs: of a decision.
        memory: width of the LSTM.
        hidden: widths of the layers after it.
        networks: ``"one"``, or ``"split"``: separate layers for discards and for the play.
        direct: feed these layers the inputs as well as the LSTM's output.
        by_rank: give the four cards of a rank one value.
    """

    def __init__(
        self, n_inputs: int, memory: int, hidden: tuple[int, ...], networks: str, direct: bool, by_rank: bool
    ) -> None:
        super().__init__()
        self._direct = direct
        self.lstm = nn.LSTM(n_inputs, memory, batch_first=True)
        width = n_inputs + memory if direct else memory
        self.layers = nn.ModuleDict({n: QNetwork(width, hidden, by_rank) for n in NETWORKS[networks]})

    def remember(self, inputs: torch.Tensor, state: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """LSTM outputs (B, T, memory) for inputs (B, T, n), and the final state, (B, 2, memory).

        ``state`` is the initial state; ``None`` means zeros, as at the start of a game.
        """
        before = None if state is None else tuple(part.unsqueeze(0).contiguous() for part in state.unbind(1))
        outputs, (output, cell) = self.lstm(inputs, before)
        return outputs, torch.stack([output[0], cell[0]], dim=1)

    def values(self, inputs: torch.Tensor, remembered: torch.Tensor, discards: torch.Tensor) -> torch.Tensor:
        """Values (D, 52) for inputs (D, n), the LSTM's outputs, and whether each is a discard, (D,)."""
        seen = torch.cat([inputs, remembered.float()], dim=1) if self._direct else remembered.relu()
        if "all" in self.layers:
            return self.layers["all"](seen)
        values = torch.empty(len(inputs), N_ACTIONS)
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

    def __init__(self, network: RecurrentQNetwork, about: dict[str, Any], name: str = "drqn") -> None:
        self.network, self.about, self.name = network, about, name
        self.inputs = Inputs(about["inputs"], about["observation"])
        self.powers = Powers(remembers=True, suits=self.inputs.suits)
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
        inputs: Coding,
        lasts: str,
        skip_forced: bool,
    ) -> DRQNAgent:
        """An agent with random weights, from torch's generator.

        Args:
            networks, memory, hidden, direct: see :class:`RecurrentQNetwork`.
            observation: by name, of :data:`crib_env.observation.OBSERVATIONS`.
            inputs: coding of the observation.
            lasts: how long it remembers, a ``"deal"`` or a ``"game"``: as long as the episodes that it learned on.
            skip_forced: whether decisions of the play in which all legal cards share a rank are left out of its memory.
        """
        about = {key: value for key, value in locals().items() if key != "cls"}
        width = Inputs(inputs, observation).size
        network = RecurrentQNetwork(width, memory, tuple(hidden), networks, direct, inputs == "ranks")
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

    def see(self, observation: np.ndarray, masks: np.ndarray, discards: np.ndarray) -> Seen:
        """Decisions, (B, n), (B, 52) and (B,), as the network sees them."""
        return self.inputs.see(observation, masks, discards)

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
        seen = self.see(observation, masks, discards)
        inputs = torch.from_numpy(seen.inputs).float()
        remembered, after = self.network.remember(inputs[:, None], torch.from_numpy(states))
        values = self.network.values(inputs, remembered[:, 0], torch.from_numpy(discards))
        best = with_gains(values, torch.from_numpy(seen.gains)).argmax(dim=1)
        return seen.original(best.numpy()), after.float().numpy()

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        observation = self.inputs.read(views)
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
