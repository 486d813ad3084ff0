"""What an attack has tried, and where it came through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Sizes(NamedTuple):
    """How much is tried."""

    decisions: int = 1_000
    """Decisions of each player, each also asked with other hidden cards."""
    kills: int = 2
    """Of each learner and of each long command."""
    lines: int = 100_000
    """Hostile command lines, at most; there are some hundreds."""
    damages: int = 100
    """Of each kind of file."""
    rounds: int = 20
    """Of eight processes that compile kernels, half of them killed; half as many full disks, thrice as many damages."""
    most: int = 100
    """Players, learners and long commands, at most."""


QUICK = Sizes(decisions=20, kills=1, lines=20, damages=3, rounds=1, most=1)


@dataclass
class Attempts:
    """A line of the table."""

    what: str
    tried: int = 0
    faults: list[str] = field(default_factory=list)

    def make(self, attempt: Callable[..., Any], *arguments: Any) -> None:
        """Makes an attempt; whatever it raises is a fault."""
        self.tried += 1
        try:
            attempt(*arguments)
        except Exception as error:
            self.faults.append(f"{' '.join(map(str, arguments))[:300]}: {type(error).__name__}: {error}"[:1_000])
