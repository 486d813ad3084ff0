"""The recurrent network that DRQN trains, its states in the games that it plays, and its agent."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.choosing import legal_ranks
from crib_env.agents.networks.ddqn import NETWORKS, QNetwork, with_gains
from crib_env.agents.networks.feed_forward import PHASES, NetworkAgent
from crib_env.agents.networks.seen import Coding, Inputs, Seen
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

    It starts at zero. If a game's id returns with an earlier decision, it is a new game. A repeated decision starts
    from the same state as the first time. Beyond ``_MOST_PLAYERS`` those unused for longest are forgotten. With
    ``lasts`` of ``"deal"`` instead of ``"game"`` every deal starts at zero.
    """

    def __init__(self, width: int, lasts: str) -> None:
        self._lasts, self._nothing = lasts, np.zeros((2, width), np.float32)
        # By player, the one unused for longest first: its last decision, and the states before and after that.
        self._kept: OrderedDict[int, tuple[int, np.ndarray, np.ndarray]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def recall(self, views: PlayerViews) -> np.ndarray:
        """The states before these decisions, (B, 2, width)."""
        return np.stack([self._before(*one) for one in zip(players(views).tolist(), views.decisions.tolist())])

    def _before(self, player: int, now: int) -> np.ndarray:
        last, before, after = self._kept.get(player, (-1, self._nothing, self._nothing))
        if now == last:
            return before
        is_another_deal = now // _DECISIONS_OF_A_DEAL > last // _DECISIONS_OF_A_DEAL
        return self._nothing if now < last or (self._lasts == "deal" and is_another_deal) else after

    def keep(self, views: PlayerViews, before: np.ndarray, after: np.ndarray) -> None:
        """Keeps the states (B, 2, width) before and after these decisions."""
        states = np.stack([before, after], axis=1)
        for player, now, both in zip(players(views).tolist(), views.decisions.tolist(), states):
            self._kept[player] = now, *both.copy()  # of the batch nothing else is kept
            self._kept.move_to_end(player)
        while len(self._kept) > max(_MOST_PLAYERS, len(views)):
            self._kept.popitem(last=False)


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


class DRQNAgent(NetworkAgent):
    """Plays the card with the highest Q-value, given all that it has seen in this game, or in this deal.

    Args:
        network: of the kind that ``about`` describes.
        about: the arguments of :meth:`new`.
    """

    learner = "drqn"

    def __init__(self, network: RecurrentQNetwork, about: dict[str, Any]) -> None:
        self.network, self.inputs = network, Inputs(about["inputs"], about["observation"])
        super().__init__(network, about, self.inputs.suits)
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

    @torch.inference_mode()
    def choose(self, seen: Seen, discards: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best cards (B,), and what is remembered after these decisions, (B, 2, memory) float32, from which
        decisions are discards, (B,) bool, and what is remembered before them."""
        inputs = torch.from_numpy(seen.inputs).float()
        remembered, after = self.network.remember(inputs[:, None], torch.from_numpy(states))
        values = self.network.values(inputs, remembered[:, 0], torch.from_numpy(discards))
        best = with_gains(values, torch.from_numpy(seen.gains)).argmax(dim=1)
        return seen.original(best.numpy()), after.float().numpy()

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        discards = views.is_discard
        states = self._memory.recall(views)
        remembered = states.copy()
        cards = views.action_mask.argmax(axis=1)
        asked = np.arange(len(views))
        if self.about["skip_forced"]:
            asked = np.flatnonzero(discards | (legal_ranks(views).sum(axis=1) > 1))
        if len(asked):
            seen, asks, before = self.inputs.of_views(views[asked]), discards[asked], states[asked]
            first, back = _distinct(seen.inputs, seen.gains, asks, before)  # many games of a best response began alike
            best, after = self.choose(seen.at(first), asks[first], before[first])
            cards[asked], states[asked] = best[back], after[back]
        self._memory.keep(views, remembered, states)
        return cards
