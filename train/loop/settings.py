"""Shared parts of all learners' settings: types with their allowed ranges, and the settings of every run."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from crib_env.engine import WIN
from evaluate.matches.match import MOST_GAMES
from train.loop.precision import Precision


@dataclass(frozen=True)
class Range:
    """The range of numbers that a setting accepts, as an annotation of its type: ``Annotated[int, Range(1)]``.

    Attributes:
        least: the smallest number allowed.
        most: the largest number allowed.
        above: whether ``least`` itself is not allowed.
        even: whether only even numbers are allowed.
    """

    least: float
    most: float = math.inf
    above: bool = False
    even: bool = False

    def __contains__(self, number: float) -> bool:
        return (
            math.isfinite(number)
            and self.least <= number <= self.most
            and not (self.above and number == self.least)
            and not (self.even and number % 2)
        )

    def __str__(self) -> str:
        if self.even:
            return f"an even number of at least {self.least:,}" + f", at most {self.most:,}" * (self.most < math.inf)
        if self.most == math.inf:
            return f"{'more than' if self.above else 'at least'} {self.least:,}"
        return f"more than {self.least:,}, at most {self.most:,}" if self.above else f"{self.least:,} to {self.most:,}"


Count = Annotated[int, Range(1)]
WholeNumber = Annotated[int, Range(0)]
Games = Annotated[int, Range(2, MOST_GAMES, even=True)]  # mirrored games come in pairs
Hands = Annotated[int, Range(2)]  # a single hand has no interval
Seed = Annotated[int, Range(0, 2**63 - 2)]  # torch takes 64 bits, and the last match uses the next seed
Share = Annotated[float, Range(0, 1)]
NotNegative = Annotated[float, Range(0)]
Positive = Annotated[float, Range(0, above=True)]
StartSpread = Annotated[int, Range(0, WIN - 1)]
Threads = Annotated[int, Range(1, 256)]  # thousands crash torch
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
    """How often to measure strength during training."""
    evaluation_games: Games = 1_000
    """Mirrored games against each baseline in a measurement during training."""
    final_games: Games = 10_000
    """Mirrored games against each baseline after training."""
    exploitability: WholeNumber = 0
    """How often to measure exact exploitability during training in pegging; minutes each."""
    checkpoint_seconds: NotNegative = 30.0
    """Seconds between checkpoints."""

    def __post_init__(self) -> None:
        kinds = get_type_hints(type(self), include_extras=True)
        for field in fields(self):
            value = getattr(self, field.name)
            if (wanted := _not_met(value, kinds[field.name])) is not None:
                raise ValueError(f"{field.name}={value!r} is not allowed: give {wanted}")
        if self.exploitability and getattr(self, "episode", None) != "pegging":
            raise ValueError(f"exploitability={self.exploitability} is only measured in episode='pegging': give 0")


@dataclass(frozen=True)
class LearningSettings(RunSettings):
    """Settings of a learner that descends gradients in rounds (:func:`train.loop.rounds.train_in_rounds`)."""

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
    """Threads of torch. One is enough for networks of this size, and its runs repeat to the last bit."""


@dataclass(frozen=True)
class ExploringSettings(LearningSettings):
    """Settings of a learner that explores with random cards."""

    epsilon: Share = 0.1
    """Initial probability of a random card."""
    final_epsilon: Share = 0.03
    """Probability of a random card at the end; it changes linearly in between."""


def _not_met(value: Any, kind: Any) -> str | None:
    """What a value must be, in words, if it is not of this kind; ``None`` if it is."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        wanted = _not_met(value, parts[0])
        ranges = [note for note in parts[1:] if isinstance(note, Range)]
        return wanted or next((str(one) for one in ranges if value not in one), None)
    if origin is Literal:
        return None if value in parts else f"one of {', '.join(map(repr, parts))}"
    if origin in (Union, UnionType):  # `| None`
        (other,) = (part for part in parts if part is not NoneType)
        return None if value is None else _not_met(value, other)
    if origin is tuple:
        if not isinstance(value, tuple):
            return "a list"
        wanted = next(filter(None, (_not_met(one, parts[0]) for one in value)), None)
        return wanted and f"numbers of {wanted}"
    if kind is float:
        return None if isinstance(value, (int, float)) and not isinstance(value, bool) else "a number"
    if kind is int:
        return None if isinstance(value, int) and not isinstance(value, bool) else "a whole number"
    return None if isinstance(value, kind) else {bool: "true or false", str: "text"}[kind]
