"""A task of the suite, and its figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from crib_env.agents import Agent
from crib_env.evaluate.statistics import mean_interval
from crib_env.files.checked_file import SavedArrays, checksum_of
from crib_env.players.win_rate import wilson_interval

SEED = 19
"""Random seed of all positions and games."""
S = TypeVar("S", bound=SavedArrays)


class Measured(NamedTuple):
    """A figure with its 95 % interval: ``mean ± half_width``, unless ``interval`` has its ends."""

    mean: float
    half_width: float | None
    """``None`` if the figure is exact, or not the mean of a sample."""
    sample: int
    """Number of positions, decisions or games behind it."""
    interval: tuple[float, float] | None = None
    """Of a rate, which is not in its middle."""

    @classmethod
    def of(cls, values: np.ndarray) -> Measured:
        """The mean of independent values (N,)."""
        low, high = mean_interval(values)
        return cls(float(np.mean(values)), (high - low) / 2 if len(values) > 1 else None, len(values))

    @classmethod
    def percent(cls, hits: int, sample: int) -> Measured:
        """The share of a sample in percent, with Wilson's interval."""
        rate = 100 * hits / sample
        low, high = (100 * end for end in wilson_interval(hits / sample, sample))
        return cls(rate, (high - low) / 2, sample, (min(low, rate), max(high, rate)))  # rounding may leave the rate out


class NotMeasuredError(Exception):
    """The task does not apply to the agent; the message says why."""


class Work(NamedTuple):
    """How a task is done."""

    share: float
    """Share of the positions or games; the first ones are used."""
    threads: int
    on_progress: Callable[[float], None]
    """Called with the number of further steps done."""

    def part_of(self, n: int) -> int:
        """How many of ``n`` positions or games are used."""
        return part_of(self.share, n)


def part_of(share: float, n: int) -> int:
    """How many positions or games a share of ``n`` is, at least 2."""
    return min(n, max(2, round(share * n)))


class Task(Protocol):
    """A module of this package with one part of the suite."""

    NAME: str
    """As in the table and in files."""
    VERSION: int
    """A version never changes; a task with other positions, games or figures is the next one."""

    def takes(self, share: float) -> str:
        """How many positions or games a share is, in words."""

    def steps(self, share: float) -> int:
        """How many steps :meth:`measure` reports as progress; 0 if not known in advance."""

    def measure(self, agent: Agent, work: Work) -> dict[str, Measured]:
        """The figures of an agent, by name.

        Raises:
            NotMeasuredError: the task does not apply to this agent.
            ValueError: the agent chose an illegal card, or the task's positions are damaged.
        """


def hash_of(positions: SavedArrays) -> str:
    """The hash of all arrays, which a task pins."""
    return checksum_of({name: np.asarray(value) for name, value in vars(positions).items()})


@cache
def load_pinned(kind: type[S], path: Path, pinned: str) -> S:
    """The positions of a task.

    Raises:
        ValueError: there is no such file, it is damaged, or its hash is not the pinned one.
    """
    positions = kind.load(path)
    if (found := hash_of(positions)) != pinned:
        raise ValueError(f"{path} has the hash {found}, and this version of the task has {pinned}: get the file again")
    return positions
