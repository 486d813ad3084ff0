"""A task of the suite, and its figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from crib_env.agents import Agent
from crib_env.evaluate.statistics import Measured
from crib_env.files.checked_file import SavedArrays, checksum_of

SEED = 19
"""Random seed of all positions and games."""
S = TypeVar("S", bound=SavedArrays)


class NotMeasuredError(Exception):
    """The task does not apply to the agent; the message says why."""


class Work(NamedTuple):
    """How a task is done."""

    share: float
    """Share of the positions or games; the first ones are used."""
    threads: int
    on_progress: Callable[[float], None]
    """Called with the further per cent of the task that are done."""

    def part_of(self, n: int) -> int:
        """How many of ``n`` positions or games are used, at least 2."""
        return min(n, max(2, round(self.share * n)))

    def on_progress_of(self, steps: int) -> Callable[[int], None]:
        """A function to call with the further steps done, of so many."""
        return lambda done: self.on_progress(100 * done / steps)


class Task(Protocol):
    """A part of the suite: a module of this package, or an object."""

    NAME: str
    """As in the table and in files."""
    VERSION: int
    """A version never changes; a task with other positions, games or figures is the next one."""

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
    """The positions of a task; ``ValueError`` if there is no such file, or its hash is not the pinned one."""
    positions = kind.load(path)
    if (found := hash_of(positions)) != pinned:
        raise ValueError(f"{path} has the hash {found}, and this version of the task has {pinned}: get the file again")
    return positions
