"""The network that Double DQN trains, and the agent that plays by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from agents.weights_file import load_tensors, save_tensors
from crib_env import PlayerViews
from crib_env.observation import N_ACTIONS, SIZES

# Which network decides: one for everything, or one for each phase.
PHASES = ("discard", "play")
NETWORKS = {"one": ("all",), "split": PHASES}


class QNetwork(nn.Sequential):
    """Observation (B, n) to the value of each card (B, 52): ReLU layers of the widths given, then a linear one."""

    def __init__(self, n_inputs: int, hidden: tuple[int, ...]) -> None:
        widths = (n_inputs, *hidden)
        layers: list[nn.Module] = []
        for before, after in zip(widths, widths[1:]):
            layers += [nn.Linear(before, after), nn.ReLU()]
        super().__init__(*layers, nn.Linear(widths[-1], N_ACTIONS))


def best_legal(values: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """The legal card with the highest value: values (B, 52), masks (B, 52) not 0 where legal; (B,) card ids."""
    return values.masked_fill(masks == 0, -torch.inf).argmax(dim=1)


class DDQNAgent:
    """Plays the card with the highest Q-value.

    Args:
        networks: by the names of ``NETWORKS[kind]``, for a kind of ``"one"`` or ``"split"``.
        about: ``kind``, ``observation`` (``"209"`` or ``"board"``) and ``hidden`` (layer widths).
        name: what tables call it.
    """

    def __init__(self, networks: dict[str, QNetwork], about: dict[str, Any], name: str = "ddqn") -> None:
        self.networks, self.about, self.name = networks, about, name

    @classmethod
    def new(cls, kind: str, observation: str, hidden: tuple[int, ...]) -> DDQNAgent:
        """An agent with random weights, from torch's generator."""
        networks = {name: QNetwork(SIZES[observation], hidden) for name in NETWORKS[kind]}
        return cls(networks, {"learner": "ddqn", "kind": kind, "observation": observation, "hidden": list(hidden)})

    @classmethod
    def load(cls, path: str | Path) -> DDQNAgent:
        """An agent from a weights file.

        Raises:
            ValueError: the file is missing, damaged or holds other weights; the message names it.
        """
        tensors, about = load_tensors(path)
        try:
            if about["learner"] != "ddqn":
                raise ValueError(f"weights of {about['learner']!r}")
            agent = cls.new(about["kind"], about["observation"], tuple(about["hidden"]))
            agent.load_tensors(tensors)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"{path} does not hold the weights of a ddqn agent ({reason})") from None
        agent.name = f"ddqn:{path}"
        return agent

    def save(self, path: Path) -> None:
        """Writes the weights, whole or not at all."""
        save_tensors(path, self.tensors(), self.about)

    def tensors(self) -> dict[str, torch.Tensor]:
        """All weights under the names ``network.layer``."""
        return {f"{n}.{key}": value for n, net in self.networks.items() for key, value in net.state_dict().items()}

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over weights that :meth:`tensors` gave; more or fewer than its own are a ``RuntimeError``."""
        for name, network in self.networks.items():
            own = {k.removeprefix(f"{name}."): v for k, v in tensors.items() if k.startswith(f"{name}.")}
            network.load_state_dict(own)

    @torch.inference_mode()
    def choose(self, observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray) -> np.ndarray:
        """The best cards (B,) for observations (B, n), masks (B, 52) and the phase of each decision (B,) bool."""
        cards = np.empty(len(masks), np.int64)
        for name, network in self.networks.items():
            mine = np.flatnonzero(is_discard == (name == "discard")) if name in PHASES else np.arange(len(masks))
            if len(mine):
                values = network(torch.from_numpy(observation[mine]).float())
                cards[mine] = best_legal(values, torch.from_numpy(masks[mine])).numpy()
        return cards

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`agents.agent.Agent`."""
        observation = views.observation if self.about["observation"] == "209" else views.board
        return self.choose(observation, views.action_mask, views.discards[:, 1] < 0)
