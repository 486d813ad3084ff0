"""The recurrent network that DRQN trains, its states in the games that it plays, and its agent."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.features.seen import Coding, Inputs, Seen
from crib_env.agents.networks.ddqn import NETWORKS, QNetwork, with_gains
from crib_env.agents.networks.feed_forward import PHASES
from crib_env.agents.networks.weights_file import reading_weights, save_tensors
from crib_env.observation import N_ACTIONS
from crib_env.players.agent import Powers

_DECISIONS_OF_A_DEAL = 12  # four discards, eight cards laid
_MOST_PLAYERS = 1 << 14  # number of players of games: twice what a match plays at once


def players(views: PlayerViews) -> np.ndarray:
    """(B,) int64: a number for each player of each game; views say who deals, and that changes with every deal."""
    dealt_first = views.is_dealer ^ (views.decisions // _DECISIONS_OF_A_DEAL % 2 == 1)
    return 2 * views.game_ids + dealt_first


def _distinct(*arrays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of arrays (B, …), each row once: the first row of each kind, (K,), and for each row its kind, (B,)."""
    n = len(arrays[0])
    rows = np.concatenate([np.ascontiguousarray(a).reshape(n, -1).view(np.uint8) for a in arrays], axis=1)
    _, first, back = np.unique(rows.view(f"V{rows.shape[1]}").ravel(), return_index=True, return_inverse=True)
    return first, back


class RecurrentMemory:
    """The state of a network in each game, by :func:`players`, so that one object may play both seats.

    It starts at zero. If a game's id returns with an earlier decision, it is a new game. A repeated
    decision starts from the same state as the first time. Beyond ``_MOST_PLAYERS`` games (and those of the current
    batch) the games unused for longest are forgotten.

    Args:
        width: of the network's memory.
        lasts: ``"game"``, or ``"deal"``: every deal starts at zero.
    """

    def __init__(self, width: int, lasts: str) -> None:
        self._lasts = lasts
        self._places: OrderedDict[int, int] = OrderedDict()  # by player, the one unused for longest first
        self._last = np.zeros(0, np.int64)  # the last decision of each player
        self._before = np.zeros((0, 2, width), np.float32)  # the states before that decision, and then after it
        self._after = np.zeros((0, 2, width), np.float32)

    def __len__(self) -> int:
        return len(self._places)

    def recall(self, views: PlayerViews) -> tuple[np.ndarray, np.ndarray]:
        """Where the players' states are kept, (B,) int64, and the states before these decisions, (B, 2, width)."""
        places = self._places_of(players(views))
        now, last = views.decisions.astype(np.int64), self._last[places]
        before = np.where((now == last)[:, None, None], self._before[places], self._after[places])
        is_over = now < last
        if self._lasts == "deal":
            is_over |= now // _DECISIONS_OF_A_DEAL > last // _DECISIONS_OF_A_DEAL
        before[is_over] = 0.0
        self._last[places], self._before[places] = now, before
        return places, before

    def keep(self, places: np.ndarray, states: np.ndarray) -> None:
        """Keeps the states (B, 2, width) after the decisions for which :meth:`recall` gave these places."""
        self._after[places] = states

    def _places_of(self, keys: np.ndarray) -> np.ndarray:
        known, wanted = self._places, keys.tolist()
        for key in wanted:
            if key in known:
                known.move_to_end(key)
        for key in wanted:
            if key not in known:
                is_full = len(known) >= max(_MOST_PLAYERS, len(wanted))
                place = known.popitem(last=False)[1] if is_full else len(known)
                known[key] = self._cleared(place)
        return np.array([known[key] for key in wanted], np.int64)

    def _cleared(self, place: int) -> int:
        if place >= len(self._last):
            more = max(1024, len(self._last))
            self._last = np.concatenate([self._last, np.zeros(more, np.int64)])
            nothing = np.zeros((more, *self._before.shape[1:]), np.float32)
            self._before, self._after = (np.concatenate([a, nothing]) for a in (self._before, self._after))
        self._last[place], self._after[place] = -1, 0.0
        return place


class RecurrentQNetwork(nn.Module):
    """Inputs, one decision of a player after the other, to the value of each card: an LSTM, then ReLU layers.

    Args:
        memory: width of the LSTM.
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

    @torch.inference_mode()
    def choose(self, seen: Seen, discards: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best cards (B,), and what is remembered after these decisions, (B, 2, memory) float32.

        Args:
            discards: (B,) bool, which decisions are discards.
            states: (B, 2, memory) float32, what is remembered before them.
        """
        inputs = torch.from_numpy(seen.inputs).float()
        remembered, after = self.network.remember(inputs[:, None], torch.from_numpy(states))
        values = self.network.values(inputs, remembered[:, 0], torch.from_numpy(discards))
        best = with_gains(values, torch.from_numpy(seen.gains)).argmax(dim=1)
        return seen.original(best.numpy()), after.float().numpy()

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        discards = views.is_discard
        places, states = self._memory.recall(views)
        cards = views.action_mask.argmax(axis=1)
        asked = np.arange(len(views))
        if self.about["skip_forced"]:
            legal_ranks = views.action_mask.reshape(-1, 4, 13).any(axis=1).sum(axis=1)
            asked = np.flatnonzero(discards | (legal_ranks > 1))
        if len(asked):
            seen, asks, before = self.inputs.of_views(views[asked]), discards[asked], states[asked]
            first, back = _distinct(seen.inputs, seen.gains, asks, before)  # many games of a best response began alike
            best, after = self.choose(seen.at(first), asks[first], before[first])
            cards[asked], states[asked] = best[back], after[back]
        self._memory.keep(places, states)
        return cards
