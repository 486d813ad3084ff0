"""Shared parts of all learners' settings: types with their allowed ranges, and the settings of every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, get_type_hints

from crib_env.engine import WIN
from crib_env.evaluate.ranges import Games, Range, Seed, Share, Threads, WholeNumber, check_values
from crib_env.train.loop.precision import Precision

Count = Annotated[int, Range(1)]
Hands = Annotated[int, Range(2)]  # a single hand has no interval
NotNegative = Annotated[float, Range(0)]
StartSpread = Annotated[int, Range(0, WIN - 1)]
Width = Annotated[int, Range(1, 16_384)]
Widths = tuple[Width, ...]


@dataclass(frozen=True)
class RunSettings:
    """Settings of every run. A learner's subclass adds its own and may change these defaults.

    Raises:
        ValueError: a setting has the wrong type or is out of range; the message names it and says what is allowed.
    """

    seed: Seed = 0
    """Random seed for initial weights, deals and exploration."""
    evaluations: WholeNumber = 20
    """How often to measure strength during training; if at all, also at the start."""
    evaluation_games: Games = 1_000
    """Mirrored games against each baseline in a measurement during training."""
    final_games: Games = 10_000
    """Mirrored games against each baseline after training."""
    exploitability: WholeNumber = 0
    """How often to measure exact exploitability during training in pegging, and at the start; minutes each."""
    checkpoint_seconds: NotNegative = 30.0
    """Seconds between checkpoints."""

    def __post_init__(self) -> None:
        check_values(vars(self), get_type_hints(type(self), include_extras=True))
        if self.exploitability and getattr(self, "episode", None) != "pegging":
            raise ValueError(f"exploitability={self.exploitability} is only measured in episode='pegging': give 0")


@dataclass(frozen=True)
class LearningSettings(RunSettings):
    """Settings of a learner that descends gradients in rounds (:func:`crib_env.train.loop.rounds.train_in_rounds`)."""

    episodes: Count = 600_000
    """Episodes to play."""
    episodes_at_once: Count = 1_024
    """Episodes in a round, played side by side."""
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
