"""Settings of runs, and the number format in which a processor computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_type_hints

import llvmlite.binding as llvm

from crib_env.values import Games, Range, Seed, Share, Threads, WholeNumber, check_values

Count = Annotated[int, Range(1)]
Hands = Annotated[int, Range(2)]  # a single hand has no interval
PeggingCards = Literal[2, 3, 4]
NotNegative = Annotated[float, Range(0)]
Width = Annotated[int, Range(1, 16_384)]
Widths = tuple[Width, ...]
Precision = Literal["auto", "float32", "bfloat16"]


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
    """How often to measure exact exploitability in pegging: at the end, after half, a quarter of the episodes, and so
    on; if at all, also at the start."""
    checkpoint_seconds: NotNegative = 30.0
    """Seconds between checkpoints."""

    def __post_init__(self) -> None:
        check_values(vars(self), get_type_hints(type(self), include_extras=True))
        for name in ("episodes", "episodes_at_once"):  # a subclass from outside may state no range
            check_values({name: getattr(self, name)}, {name: Count})
        for name, other in {"exploitability": 0, "cards": 4}.items():
            if (value := getattr(self, name, other)) != other and getattr(self, "episode", None) != "pegging":
                raise ValueError(f"{name}={value} is only for episode='pegging': give {other}")

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

    def __post_init__(self) -> None:
        super().__post_init__()
        is_fast = getattr(self, "device", "cpu") == "cuda" or has_bfloat16()
        if self.precision == "auto":  # a run keeps its format on whatever processor it continues
            object.__setattr__(self, "precision", "bfloat16" if is_fast else "float32")
        if self.precision == "bfloat16" and not is_fast:
            raise ValueError("precision='bfloat16' is not allowed: this processor has no instructions for it")


@dataclass(frozen=True)
class ExploringSettings(LearningSettings):
    """Settings of a learner that explores with random cards."""

    epsilon: Share = 0.1
    """Initial probability of a random card."""
    final_epsilon: Share = 0.03
    """Probability of a random card at the end; it changes linearly in between."""


def one_width(hidden: Widths, why: str) -> None:
    """Raises ValueError, with the setting that is the reason, unless there is a single hidden layer."""
    if len(hidden) != 1:
        raise ValueError(f"hidden={hidden} is not allowed with {why}: give one width")


def processor() -> str:
    """The name of this processor's kind, on which digits and times depend."""
    return llvm.get_host_cpu_name()


def has_bfloat16() -> bool:
    """Whether this processor has instructions for bfloat16."""
    return bool(llvm.get_host_cpu_features().get("avx512bf16"))
