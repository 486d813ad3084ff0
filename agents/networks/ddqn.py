"""The network that Double DQN trains, its agent, and a first layer for inputs of 0 and 1, few of which are 1.

Of the inputs by rank some 30 of 401 are 1 at a decision of the play. The sparse layer adds up weights, and multiplies
nothing. There it costs a fourth of a product of matrices, and with its gradient half (docs/benchmarks/learners.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from crib_env import PlayerViews
from crib_env.agents.networks.feed_forward import PHASES, NetworkAgent, hidden_layers, in_few_sizes
from crib_env.agents.networks.seen import Coding, Inputs, Seen
from crib_env.kernels import kernel
from crib_env.observation import N_ACTIONS

# Which network decides: one for everything, or one for each phase.
NETWORKS = {"one": ("all",), "split": PHASES}
N_RANKS = 13


class QNetwork(nn.Module):
    """Inputs (B, n) to the value of each card (B, 52): ReLU layers of the given widths, then a linear layer.

    Args:
        by_rank: give the four cards of a rank one value.
    """

    def __init__(self, n_inputs: int, hidden: tuple[int, ...], by_rank: bool) -> None:
        super().__init__()
        self.body, width = hidden_layers(n_inputs, hidden)
        self.cards = nn.Linear(width, N_RANKS if by_rank else N_ACTIONS)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """See the class."""
        last = self.body(inputs)
        # Values in full precision, whatever the layers below compute in.
        with torch.autocast(inputs.device.type, enabled=False):
            values = self.cards(last.float())
            return values.repeat(1, N_ACTIONS // values.shape[1])


def with_gains(outputs: torch.Tensor, gains: torch.Tensor) -> torch.Tensor:
    """Values (B, 52): outputs plus known gains, and -inf for a card that is not legal, whatever its output is."""
    return torch.where(gains > -torch.inf, outputs + gains, gains)


class DDQNAgent(NetworkAgent):
    """Plays the card with the highest Q-value: what it is known to gain at once, plus the output of a network.

    Args:
        networks: by the names of ``NETWORKS[kind]``, for a kind of ``"one"`` or ``"split"``.
        about: the arguments of :meth:`new`.
    """

    learner = "ddqn"

    def __init__(self, networks: dict[str, QNetwork], about: dict[str, Any]) -> None:
        self.inputs = Inputs(about["inputs"], about["observation"])
        super().__init__(nn.ModuleDict(networks), about, self.inputs.suits)
        self.networks = networks

    @classmethod
    def new(
        cls,
        kind: str,
        observation: str,
        inputs: Coding,
        hidden: tuple[int, ...],
        hidden_discard: tuple[int, ...] = (),
    ) -> DDQNAgent:
        """An agent with random weights, from torch's generator.

        Args:
            kind: ``"one"`` network or ``"split"``.
            observation: by name, of :data:`crib_env.observation.OBSERVATIONS`.
            hidden_discard: those of the network of discards; none means that they are the same.
        """
        about = {key: value for key, value in locals().items() if key != "cls"}
        networks, sight = {}, Inputs(inputs, observation)
        for name in NETWORKS[kind]:
            used = len(range(sight.size)[sight.columns(name)])
            widths = hidden_discard if hidden_discard and name == "discard" else hidden
            networks[name] = QNetwork(used, tuple(widths), inputs == "ranks")
        return cls(networks, {**about, "hidden": list(hidden), "hidden_discard": list(hidden_discard)})

    def rows_of(self, name: str, is_discard: np.ndarray) -> np.ndarray:
        """Which decisions (indices) a network makes, given which are discards, (B,) bool."""
        return np.arange(len(is_discard)) if name == "all" else np.flatnonzero(is_discard == (name == "discard"))

    @property
    def device(self) -> torch.device:
        """Where the networks are."""
        return next(iter(self.networks.values())).cards.weight.device

    def inputs_of(self, name: str, inputs: Any) -> torch.Tensor:
        """What a network uses of ``Seen.inputs`` (B, n), an array or a tensor, in the number format that it computes
        in."""
        used = torch.as_tensor(inputs, device=self.device)[:, self.inputs.columns(name)]
        if is_sparse(self.networks[name].body):
            return used
        return used.to(torch.bfloat16 if torch.is_autocast_enabled(used.device.type) else torch.float32)

    def outputs(self, inputs: Any, is_discard: Any) -> torch.Tensor:
        """Outputs (B, 52) for ``Seen.inputs`` (B, n), each from the network of its phase, (B,) bool: arrays or
        tensors."""
        inputs, is_discard = (torch.as_tensor(given, device=self.device) for given in (inputs, is_discard))
        if "all" in self.networks:
            return in_few_sizes(self.networks["all"], self.inputs_of("all", inputs))
        outputs = torch.empty(len(inputs), N_ACTIONS, device=self.device)
        for name, of_phase in zip(PHASES, (is_discard, ~is_discard)):
            rows = of_phase.nonzero()[:, 0]
            if len(rows) == len(inputs):
                return in_few_sizes(self.networks[name], self.inputs_of(name, inputs))
            if len(rows):
                outputs[rows] = in_few_sizes(self.networks[name], self.inputs_of(name, inputs[rows]))
        return outputs

    @torch.inference_mode()
    def choose(self, seen: Seen, is_discard: np.ndarray) -> np.ndarray:
        """The best cards (B,) of decisions and the phase of each, (B,) bool."""
        values = with_gains(self.outputs(seen.inputs, is_discard), torch.as_tensor(seen.gains, device=self.device))
        return seen.original(values.argmax(dim=1).cpu().numpy())

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return self.choose(self.inputs.of_views(views), views.is_discard)


@kernel
def _ones(inputs, row, places):
    """Writes where a row of inputs is 1; how many places there are, up to a multiple of 4 by the last of them."""
    n, none = 0, inputs.shape[1]
    for i in range(inputs.shape[1]):
        places[n] = i
        n += inputs[row, i] != 0
    while n % 4:
        places[n] = none
        n += 1
    return n


@kernel
def _sum_rows(inputs, weights, bias, out):
    """``weights`` (n + 1, h) end with a row of zeros. Four rows at a time are read: the sum is written less often."""
    places = np.empty(inputs.shape[1] + 4, np.int64)
    for b in range(len(inputs)):
        n, total = _ones(inputs, b, places), out[b]
        total[:] = bias
        for i in range(0, n, 4):
            one, two, three, four = (
                weights[places[i]],
                weights[places[i + 1]],
                weights[places[i + 2]],
                weights[places[i + 3]],
            )
            for k in range(len(bias)):
                total[k] += (one[k] + two[k]) + (three[k] + four[k])


@kernel
def _add_to_rows(inputs, slopes, out):
    places = np.empty(inputs.shape[1] + 4, np.int64)
    for b in range(len(inputs)):
        n, slope = _ones(inputs, b, places), slopes[b]
        for i in range(n):
            row = out[places[i]]
            for k in range(len(slope)):
                row[k] += slope[k]


class _Summed(torch.autograd.Function):
    """(B, n) int8 inputs, (h, n) weights and (h,) bias to (B, h)."""

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(inputs)
        out = torch.empty(len(inputs), len(bias))
        rows = nn.functional.pad(weight.detach().t(), (0, 0, 0, 1))
        _sum_rows(inputs.numpy(), rows.numpy(), bias.detach().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor]:
        (inputs,), (slope,) = ctx.saved_tensors, slopes
        out = np.zeros((inputs.shape[1] + 1, slope.shape[1]), np.float32)
        _add_to_rows(inputs.numpy(), slope.contiguous().numpy(), out)
        return None, torch.from_numpy(out[:-1]).t(), slope.sum(dim=0)


class SparseLinear(nn.Linear):
    """Inputs (B, n) int8 of 0 and 1 to (B, h) float32; parameters are those of ``nn.Linear``."""

    @classmethod
    def of(cls, layer: nn.Linear) -> SparseLinear:
        """The same layer, with the same parameters."""
        made = cls(layer.in_features, layer.out_features, device="meta")
        made.weight, made.bias = layer.weight, layer.bias
        return made

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """See the class. A GPU multiplies matrices faster than it adds up rows."""
        if inputs.is_cuda:
            return super().forward(inputs.to(torch.bfloat16 if torch.is_autocast_enabled("cuda") else torch.float32))
        summed: torch.Tensor = _Summed.apply(inputs.contiguous(), self.weight, self.bias)
        return summed


def make_sparse(body: nn.Sequential) -> None:
    """Makes the first of these layers a :class:`SparseLinear`."""
    if len(body) and isinstance(body[0], nn.Linear):
        body[0] = SparseLinear.of(body[0])


def is_sparse(body: nn.Sequential) -> bool:
    """Whether the first of these layers is a :class:`SparseLinear`."""
    return len(body) > 0 and isinstance(body[0], SparseLinear)
