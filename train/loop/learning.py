"""What learners share: settings, the format of numbers, the gradient step, and what a checkpoint saves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, Protocol, TypeVar, get_type_hints

import llvmlite.binding as llvm
import numpy as np
import torch
from torch import nn

from crib_env.agents import make_agent
from crib_env.engine import WIN
from crib_env.evaluate.runs.format import UPDATES
from crib_env.observation import observation_named
from crib_env.values import Games, Positive, Range, Seed, Share, Threads, WholeNumber, check_values

Count = Annotated[int, Range(1)]
Hands = Annotated[int, Range(2)]  # a single hand has no interval
PeggingCards = Literal[2, 3, 4]
NotNegative = Annotated[float, Range(0)]
StartSpread = Annotated[int, Range(0, WIN - 1)]
Width = Annotated[int, Range(1, 16_384)]
Widths = tuple[Width, ...]
Precision = Literal["auto", "float32", "bfloat16"]
S = TypeVar("S", bound="RunSettings")

_LONGEST = 10.0  # norm of a gradient


@dataclass(frozen=True)
class RunSettings:
    """Settings of every run, checked. A learner's subclass adds its own and may change these defaults."""

    seed: Seed = 0
    """Random seed for initial weights, deals and exploration."""
    episodes: Count = 600_000
    """Episodes to play."""
    episodes_at_once: Count = 1_024
    """Episodes in a round, played side by side."""
    evaluations: WholeNumber = 20
    """How often to measure strength during training; if at all, also at the start."""
    evaluation_games: Games = 1_000
    """Mirrored games against each baseline in a measurement during training."""
    final_games: Games = 10_000
    """Mirrored games against each baseline after training."""
    exploitability: WholeNumber = 0
    """How often to measure exact exploitability in pegging, beside training: at the end, after half, a quarter, an
    eighth of the episodes and so on; if at all, also at the start."""
    checkpoint_seconds: NotNegative = 30.0
    """Seconds between checkpoints."""

    def __post_init__(self) -> None:
        check_values(vars(self), get_type_hints(type(self), include_extras=True))
        for name in ("episodes", "episodes_at_once"):  # a subclass from outside may state no range
            check_values({name: getattr(self, name)}, {name: Count})
        if self.exploitability and getattr(self, "episode", None) != "pegging":
            raise ValueError(f"exploitability={self.exploitability} is only measured in episode='pegging': give 0")
        cards: int = getattr(self, "cards", 4)
        if cards != 4 and getattr(self, "episode", None) != "pegging":
            raise ValueError(f"cards={cards} is only for episode='pegging': give 4")

    @property
    def all_episodes(self) -> int:
        """How many episodes the run plays."""
        return self.episodes


@dataclass(frozen=True)
class LearningSettings(RunSettings):
    """Settings of a learner that descends gradients."""

    batch_size: Count = 256
    """Samples in a gradient step."""
    learning_rate: NotNegative = 2e-3
    """Initial learning rate of Adam."""
    final_learning_rate: NotNegative = 0.0
    """Learning rate at the end; it changes linearly in between."""
    precision: Precision = "auto"
    """Number format in training; "auto" is bfloat16 if the processor has instructions for it when the run begins."""
    threads: Threads = 1
    """Threads of torch. One is enough for networks of this size, and its runs repeat to the last bit on the same kind
    of processor."""


@dataclass(frozen=True)
class ExploringSettings(LearningSettings):
    """Settings of a learner that explores with random cards."""

    epsilon: Share = 0.1
    """Initial probability of a random card."""
    final_epsilon: Share = 0.03
    """Probability of a random card at the end; it changes linearly in between."""


@dataclass(frozen=True)
class QSettings(ExploringSettings):
    """Settings of a learner of Q values, which trains from replay in self-play or against an agent."""

    opponent: str = "self"
    """The opponent: "self", or the name of any agent, for example "random" or "greedy"."""
    observation: str = "209"
    """Observation of the networks: "209", "board" or another of crib_env.observation."""
    episode: Literal["play", "pegging", "deal", "game"] = "deal"
    """What an episode is: the play of a deal, the play of eight cards and nothing else, a deal, or a game."""
    cards: PeggingCards = 4
    """Cards of each player in pegging."""
    rewards: Literal["settled", "points"] = "settled"
    """"points" as they are scored, or "settled": without the luck that no decision controls (deals and pegging)."""
    skip_forced: bool = True
    """Leave out decisions in which all legal cards have the same rank."""
    warm_up: WholeNumber = 1_024
    """Episodes before the first gradient step."""
    reuse: Positive = 2.0
    """How often a sample is used on average."""
    gamma: Share = 1.0
    """Discount for each of the player's own decisions."""
    target_sync: Count = 500
    """Gradient steps between updates of the target network."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rewards == "settled" and self.episode not in ("deal", "pegging"):
            raise ValueError(f"rewards='settled' is not allowed with episode={self.episode!r}: choose rewards='points'")
        observation_named(self.observation)
        if self.opponent != "self":
            make_agent(self.opponent)


# What Sharan and Pawar (2022) say of both their learners, and usual choices where they say nothing.
SHARAN_PAWAR: dict[str, Any] = {
    "preset": "paper",
    "opponent": "random",
    "networks": "one",
    "inputs": "bits",
    "episode": "game",
    "rewards": "points",
    "skip_forced": False,
    "episodes": 6_000,
    "episodes_at_once": 16,
    "warm_up": 500,
    "learning_rate": 1e-3,
    "final_learning_rate": 1e-3,
    "target_sync": 1_000,
}


def one_width(hidden: Widths, why: str) -> None:
    """Raises ValueError, with the setting that is the reason, unless there is a single hidden layer."""
    if len(hidden) != 1:
        raise ValueError(f"hidden={hidden} is not allowed with {why}: give one width")


# Instructions on which digits or times depend, as LLVM calls them.
_INSTRUCTIONS = {"neon": "NEON", "avx2": "AVX2", "avx512f": "AVX-512", "avx512bf16": "bfloat16", "amx-bf16": "AMX"}


@cache
def _instructions() -> tuple[str, ...]:
    found = llvm.get_host_cpu_features()
    return tuple(name for key, name in _INSTRUCTIONS.items() if found.get(key))


def processor() -> str:
    """The name of this processor's kind, and those of its instructions on which digits or times depend."""
    return " with ".join(filter(None, [llvm.get_host_cpu_name(), ", ".join(_instructions())]))


def chosen(name: Precision) -> Literal["float32", "bfloat16"]:
    """The format of a setting; that of ``"auto"`` is bfloat16 if the processor has instructions for it."""
    if name != "auto":
        return name
    return "bfloat16" if "bfloat16" in _instructions() else "float32"


def is_emulated(name: Precision) -> bool:
    """Whether the processor has no instructions for the format of a setting, and computes in float32."""
    return chosen(name) == "bfloat16" != chosen("auto")


@contextmanager
def precision(name: Precision, device: str = "cpu") -> Iterator[None]:
    """The context for computing in the format of a setting, on a processor or a GPU, ``"cuda"``."""
    onednn: Any = torch.backends.mkldnn
    before = onednn.enabled
    onednn.enabled = before and not is_emulated(name)  # it has an LSTM in bfloat16 only for the newer instructions
    try:
        with torch.autocast(device, torch.bfloat16, enabled=chosen(name) == "bfloat16"):
            yield
    finally:
        onednn.enabled = before


def with_precision(settings: S) -> S:
    """Settings that name the format chosen here, so that a run keeps it on whatever processor it continues."""
    if isinstance(settings, LearningSettings):
        on_gpu = getattr(settings, "device", "cpu") == "cuda" and settings.precision == "auto"
        return replace(settings, precision="bfloat16" if on_gpu else chosen(settings.precision))
    return settings


class Stateful(Protocol):
    """What a checkpoint saves: tensors by name, for which a learner may also give NumPy arrays."""

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Its tensors."""

    def load_state_dict(self, tensors: dict[str, torch.Tensor], /) -> object:
        """Restores them."""


class Parts:
    """Everything that a checkpoint saves, of parts under names: networks, averages, optimizers, memories."""

    def __init__(self, **parts: Stateful) -> None:
        self._parts = parts

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors of all parts, as ``part.key``."""
        return {
            f"{name}.{key}": value for name, part in self._parts.items() for key, value in part.state_dict().items()
        }

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        for name, part in self._parts.items():
            start = f"{name}."
            part.load_state_dict({key.removeprefix(start): t for key, t in tensors.items() if key.startswith(start)})


def by_network(kind: str, parts: Mapping[str, Stateful]) -> dict[str, Stateful]:
    """Parts of which each network has one, by names of their own: ``kind.network``."""
    return {f"{kind}.{name}": part for name, part in parts.items()}


class SavedOptimizer:
    """An Adam optimizer of one group of parameters, as a checkpoint saves it."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer

    @property
    def steps(self) -> int:
        """The number of its steps so far."""
        return max((int(state["step"]) for state in self.optimizer.state.values()), default=0)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Its state as ``parameter.what``."""
        state = self.optimizer.state_dict()["state"]
        return {f"{i}.{what}": value for i, whole in state.items() for what, value in whole.items()}

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the state that :meth:`state_dict` returned.

        Raises:
            ValueError: a tensor belongs to no parameter or has another shape; torch does not check this.
        """
        parameters = [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
        state: dict[int, dict[str, torch.Tensor]] = {}
        for key, value in tensors.items():
            i, _, what = key.partition(".")
            if not i.isdecimal() or int(i) >= len(parameters):
                raise ValueError(f"the optimizer has no parameter {i}")
            if value.ndim and value.shape != parameters[int(i)].shape:
                raise ValueError(f"{key} of the optimizer has the shape {list(value.shape)}")
            state.setdefault(int(i), {})[what] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})


class Descent(SavedOptimizer):
    """The gradient steps of a network, by Adam, or with weight decay by AdamW; messages call it ``what``."""

    def __init__(self, network: nn.Module, what: str, decay: float = 0.0) -> None:
        kind = torch.optim.AdamW if decay else torch.optim.Adam
        device = next(network.parameters()).device
        self._network, self._what, self._on_gpu = network, what, device.type == "cuda"
        # A CUDA graph repeats the numbers of Python with which it was made: there the learning rate is a tensor.
        options: dict[str, Any] = {"lr": torch.tensor(0.0, device=device), "capturable": True} if self._on_gpu else {}
        super().__init__(kind(network.parameters(), weight_decay=decay, fused=True, **options))

    def step(self, loss: torch.Tensor, rate: float) -> float:
        """Takes a step at a learning rate, with the gradient of the loss, a scalar, clipped to a norm of 10; returns
        the norm before.

        Raises:
            FloatingPointError: the loss or its gradient is not finite, and the network has not changed; or the norm of
                the weights is not finite after it.
        """
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the loss of {self._what} is {loss.item()}")
        length = self.slope(loss)
        if not torch.isfinite(length):  # a step would make the weights NaN
            raise FloatingPointError(f"the gradient of {self._what} is {length.item()}")
        self.set_rate(rate)
        self.optimizer.step()
        size = nn.utils.get_total_norm([parameter.detach() for parameter in self._network.parameters()])
        if not torch.isfinite(size):  # the next games would be played, and a checkpoint saved, with these weights
            raise FloatingPointError(f"the norm of the weights of {self._what} is {size.item()}")
        return length.item()

    def slope(self, loss: torch.Tensor) -> torch.Tensor:
        """Computes the gradient of a loss, clipped; returns its norm before."""
        self.optimizer.zero_grad(set_to_none=not self._on_gpu)  # a CUDA graph writes to the same memory
        loss.backward()
        return nn.utils.clip_grad_norm_(self._network.parameters(), _LONGEST)

    def set_rate(self, rate: float) -> None:
        """Sets the learning rate."""
        group = self.optimizer.param_groups[0]
        if self._on_gpu:
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


@torch.no_grad()
def follow(average: nn.Module, network: nn.Module, share: float) -> None:
    """Moves the weights of ``average`` this share of the way to those of ``network``: it gets their average."""
    for old, new in zip(average.parameters(), network.parameters()):
        old.lerp_(new, share)


def split_into_batches(rows: np.ndarray, size: int) -> list[np.ndarray]:
    """Rows (N,) in batches of about one size, at least one batch."""
    return np.array_split(rows, max(1, round(len(rows) / size)))


def mean_of_steps(steps: Mapping[str, list[dict[str, float]]]) -> dict[str, float]:
    """The means of what gradient steps measured, by network: of all, and of each of several networks; their number."""
    values: dict[str, list[float]] = {}
    for name, measured in steps.items():
        for step in measured:
            for key, value in step.items():
                values.setdefault(f"learning/{key}", []).append(value)
                if len(steps) > 1:
                    values.setdefault(f"networks/{name} {key}", []).append(value)
    means = {tag: float(np.mean(found)) for tag, found in values.items()}
    return {**means, UPDATES: sum(map(len, steps.values()))}
