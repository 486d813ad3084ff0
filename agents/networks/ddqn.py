"""The network that Double DQN trains, and its agent."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.features.play import N_PLAY_FEATURES, with_play_features
from crib_env.agents.features.ranks import N_RANK_INPUTS, with_rank_counts
from crib_env.agents.features.suits import original, relabel
from crib_env.agents.networks.networks_by_phase import PHASES, NetworksByPhase
from crib_env.agents.networks.weights_file import reading_weights
from crib_env.observation import N_ACTIONS, SIZES

# Which network decides: one for everything, or one for each phase.
NETWORKS = {"one": ("all",), "split": PHASES}


class QNetwork(nn.Module):
    """Observation (B, n) to the value of each card (B, 52): ReLU layers of the given widths, then a linear layer.

    Args:
        n_inputs: length of an observation, of which the first 209 are the 209 bits.
        hidden: widths of the hidden layers.
        ranks: add how many cards of each rank are held and known to the inputs, and share a part of the output between
            the four cards of a rank. All of it follows from the observation, so the network need not learn it.
        dueling: sum a state value and advantages, which are centred on their mean (Wang et al. 2016).
    """

    def __init__(self, n_inputs: int, hidden: tuple[int, ...], ranks: bool, dueling: bool = False) -> None:
        super().__init__()
        widths = (n_inputs + N_RANK_INPUTS * ranks, *hidden)
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.cards = nn.Linear(widths[-1], N_ACTIONS)
        self.ranks = nn.Linear(widths[-1], 13) if ranks else None
        self.state = nn.Linear(widths[-1], 1) if dueling else None

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """See the class."""
        last = self.body(observation if self.ranks is None else with_rank_counts(observation))
        with torch.autocast("cpu", enabled=False):  # values in full precision, whatever the layers below compute in
            last = last.float()
            values = self.cards(last)
            if self.ranks is not None:
                values = values + self.ranks(last).repeat(1, 4)
            if self.state is not None:
                values = self.state(last) + values - values.mean(dim=1, keepdim=True)
            return values


def best_legal(values: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """The legal card with the highest value: values (B, 52), masks (B, 52) not 0 where legal; (B,) card ids."""
    return values.masked_fill(masks == 0, -torch.inf).argmax(dim=1)


class DDQNAgent(NetworksByPhase[QNetwork]):
    """Plays the card with the highest Q-value.

    Args:
        networks: by the names of ``NETWORKS[kind]``, for a kind of ``"one"`` or ``"split"``.
        about: ``kind``, ``observation``, ``hidden``, ``ranks``, ``features`` and ``dueling``, see :meth:`new`.
        name: its name in tables.
    """

    def __init__(self, networks: dict[str, QNetwork], about: dict[str, Any], name: str = "ddqn") -> None:
        super().__init__(networks, about, name)

    @classmethod
    def new(
        cls,
        kind: str,
        observation: str,
        hidden: tuple[int, ...],
        ranks: bool,
        features: bool = False,
        dueling: bool = False,
    ) -> DDQNAgent:
        """An agent with random weights, from torch's generator.

        Args:
            kind: ``"one"`` network or ``"split"``.
            observation: ``"209"`` or ``"board"``.
            hidden, ranks, dueling: of the networks, see :class:`QNetwork`.
            features: whether the state of the play is added to their inputs (:mod:`crib_env.agents.features.play`).
        """
        n_inputs = SIZES[observation] + N_PLAY_FEATURES * features
        networks = {name: QNetwork(n_inputs, hidden, ranks, dueling) for name in NETWORKS[kind]}
        about = {
            "kind": kind,
            "observation": observation,
            "hidden": list(hidden),
            "ranks": ranks,
            "features": features,
            "dueling": dueling,
        }
        return cls(networks, {"learner": "ddqn", **about})

    @classmethod
    def described_by(cls, about: dict[str, Any]) -> DDQNAgent:
        """An agent with random weights, as a weights file describes it."""
        return cls.new(**{key: value for key, value in about.items() if key != "learner"})

    @classmethod
    def load(cls, path: str | Path) -> DDQNAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        with reading_weights(path, "ddqn") as file:
            agent = cls.described_by(file.about)
            file.fill(nn.ModuleDict(agent.networks))
        agent.name = f"ddqn:{path}"
        return agent

    def rows_of(self, name: str, is_discard: np.ndarray) -> np.ndarray:
        """Which decisions (indices) a network makes, given which are discards, (B,) bool."""
        makes = np.array([self.network_of(phase) == name for phase in (False, True)])
        return np.flatnonzero(makes[is_discard.astype(np.int64)])

    def inputs(self, observation: np.ndarray) -> torch.Tensor:
        """Inputs of the networks for observations (B, n) int8, (B, m) float32."""
        return with_play_features(observation) if self.about["features"] else torch.from_numpy(observation).float()

    def values(self, inputs: torch.Tensor, is_discard: torch.Tensor) -> torch.Tensor:
        """Q-values (B, 52) for :meth:`inputs` (B, m), each from the network of its phase, (B,) bool."""
        if "all" in self.networks:
            return self.networks["all"](inputs)
        values = inputs.new_empty(len(inputs), N_ACTIONS)
        for phase in (True, False):
            mine = torch.nonzero(is_discard == phase).squeeze(1)
            if len(mine):
                values[mine] = self.networks[self.network_of(phase)](inputs[mine])
        return values

    @torch.inference_mode()
    def choose(self, observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray) -> np.ndarray:
        """The best cards (B,) for observations (B, n), masks (B, 52) and the phase of each decision (B,) bool."""
        observation, masks, order = relabel(observation, masks)
        values = self.values(self.inputs(observation), torch.from_numpy(is_discard))
        return original(best_legal(values, torch.from_numpy(masks)).numpy(), order)

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.agents.agent.Agent`."""
        observation = views.observation if self.about["observation"] == "209" else views.board
        return self.choose(observation, views.action_mask, views.is_discard)
