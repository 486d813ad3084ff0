"""The six levels of the table: players of the house by name, the weakest first, and how strong they are."""

from __future__ import annotations

from typing import NamedTuple


class Level(NamedTuple):
    """A player of the house."""

    name: str
    agent: str  # as make_agent takes it
    says: str  # how it plays, to people
    against_best: float  # its win rate by ``crib-env match AGENT best``
    loss: float  # of the chance to win, by a decision; by ``crib-env analyse``, in games against ``greedy``


LEVELS = (
    Level("Newcomer", "erring:errs=5", "knows the rules, and misses much", 0.0527, 0.01665),
    Level("Learner", "erring:errs=3", "counts, and misjudges choices by three points", 0.1182, 0.01354),
    Level("Neighbour", "erring:errs=2", "plays for fun, and misjudges by two points", 0.1935, 0.01114),
    Level("Regular", "erring:errs=1.2", "plays every week, and misjudges by about a point", 0.3247, 0.00584),
    Level("Club player", "erring:errs=0.6", "misjudges by half a point", 0.4328, 0.00277),
    Level("Best", "best", "the strongest of the house, and plays to the score", 0.5, 0.00069),
)
"""Measured in docs/benchmarks/players.md, which has samples and intervals."""
OFFERED = ("best", "expert", "halscrib", "careful", "heuristic", "greedy", "minimax", "ismcts", "random")
"""Agents that the page lists beside the levels; any other may be named."""
FIRST = LEVELS[2]
"""The level that a first player is offered."""


def level_of(agent: str) -> Level | None:
    """The level that an agent is, if it is one; ``agent`` is as in ``LEVELS``, or as a record names it."""
    return next((level for level in LEVELS if level.agent == agent.removesuffix(".0")), None)
