"""Settings of runs, and the number format in which a processor computes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Literal, TypeVar, get_type_hints

import llvmlite.binding as llvm

from crib_env.engine import WIN
from crib_env.values import Games, Range, Seed, Share, Threads, WholeNumber, check_values

Count = Annotated[int, Range(1)]
Hands = Annotated[int, Range(2)]  # a single hand has no interval
PeggingCards = Literal[2, 3, 4]
NotNegative = Annotated[float, Range(0)]
StartSpread = Annotated[int, Range(0, WIN - 1)]
Width = Annotated[int, Range(1, 16_384)]
Widths = tuple[Width, ...]
Precision = Literal["auto", "float32", "bfloat16"]
S = TypeVar("S", bound="RunSettings")


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


def with_precision(settings: S) -> S:
    """Settings that name the format chosen here, so that a run keeps it on whatever processor it continues."""
    if isinstance(settings, LearningSettings):
        on_gpu = getattr(settings, "device", "cpu") == "cuda" and settings.precision == "auto"
        return replace(settings, precision="bfloat16" if on_gpu else chosen(settings.precision))
    return settings


def precision_in_words(settings: RunSettings) -> str:
    """A line on the format in which networks train with these settings, and on the processor."""
    if not isinstance(settings, LearningSettings):  # there are no networks
        return f"processor: {processor()}"
    name = settings.precision
    return f"precision: {chosen(name)}{', emulated and slow' * is_emulated(name)}; processor: {processor()}"
