"""What a task of the suite is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from crib_env.agents import Agent
from evaluate.statistics import mean_interval
from evaluate.suite.data import SuiteData


class Measured(NamedTuple):
    """A figure with its 95 % interval: ``mean ± half_width``."""

    mean: float
    half_width: float | None
    """``None`` where the figure is exact, or no sample of anything."""
    sample: int
    """Positions, decisions or games behind it."""

    @classmethod
    def of(cls, values: np.ndarray) -> Measured:
        """The mean of independent values (N,)."""
        low, high = mean_interval(values)
        return cls(float(np.mean(values)), (high - low) / 2 if len(values) > 1 else None, len(values))


class NotMeasuredError(Exception):
    """A task that says nothing of an agent; the message says why."""


class Work(NamedTuple):
    """What a task is given beside the agent."""

    data: SuiteData
    share: float
    """Of the positions, or of the games; the first ones are taken."""
    threads: int
    on_progress: Callable[[int], None]
    """Is told how many more steps are done."""

    def part_of(self, n: int) -> int:
        """How many of ``n`` positions or games are taken, at least 2."""
        return min(n, max(2, round(self.share * n)))


class Task(Protocol):
    """A module of this package with one part of the suite."""

    NAME: str
    """As in the table and in files."""

    def steps(self, share: float) -> int:
        """How many steps :meth:`measure` tells its progress of; 0 where that is not known."""

    def measure(self, agent: Agent, work: Work) -> dict[str, Measured]:
        """The figures of an agent, by what they are.

        Raises:
            NotMeasuredError: the task says nothing of this agent.
            ValueError: the agent chose an illegal card.
        """
