"""The six levels of the table: players of the house by name, the weakest first, and how strong they are."""

from __future__ import annotations

from typing import NamedTuple


class Measured(NamedTuple):
    """A win rate, or the chance to win that a decision loses on average, as the coach judges it."""

    value: float
    low: float
    high: float
    """95 % interval; of a loss from the spread between games."""
    games: int
    """Of win rates, mirrored ones."""


class Level(NamedTuple):
    """A player of the house."""

    name: str
    agent: str
    """As :func:`crib_env.agents.make_agent` takes it."""
    says: str
    """How it plays, to people."""
    against_greedy: Measured
    """By ``crib-env match AGENT greedy``: a sound beginner, who counts exactly and looks no further."""
    against_best: Measured | None
    """By ``crib-env match AGENT best``; None for ``best`` itself."""
    loss: Measured
    """By ``crib-env analyse``, in games against ``greedy``."""
    overlooks: float
    """With muggins, the chance that it overlooks an item of its hand or crib, such as a fifteen or a run."""


LEVELS: tuple[Level, ...] = (
    Level(
        "Newcomer",
        "erring:errs=5",
        "knows the rules, and misses much",
        Measured(0.1030, 0.0944, 0.1123, 4_000),
        Measured(0.0527, 0.0464, 0.0599, 4_000),
        Measured(0.01665, 0.01315, 0.02015, 40),
        0.10,
    ),
    Level(
        "Learner",
        "erring:errs=3",
        "counts, and misjudges choices by three points",
        Measured(0.2008, 0.1897, 0.2122, 4_000),
        Measured(0.1182, 0.1092, 0.1279, 4_000),
        Measured(0.01354, 0.01086, 0.01623, 40),
        0.06,
    ),
    Level(
        "Neighbour",
        "erring:errs=2",
        "plays for fun, and misjudges by two points",
        Measured(0.3108, 0.2988, 0.3230, 4_000),
        Measured(0.1935, 0.1829, 0.2046, 4_000),
        Measured(0.01114, 0.00917, 0.01311, 40),
        0.04,
    ),
    Level(
        "Regular",
        "erring:errs=1.2",
        "plays every week, and misjudges by about a point",
        Measured(0.4665, 0.4545, 0.4785, 4_000),
        Measured(0.3247, 0.3136, 0.3361, 4_000),
        Measured(0.00584, 0.00479, 0.00690, 40),
        0.024,
    ),
    Level(
        "Club player",
        "erring:errs=0.6",
        "misjudges by half a point",
        Measured(0.5958, 0.5845, 0.6069, 4_000),
        Measured(0.4328, 0.4226, 0.4430, 4_000),
        Measured(0.00277, 0.00218, 0.00335, 40),
        0.012,
    ),
    Level(
        "Best",
        "best",
        "the strongest of the house, and plays to the score",
        Measured(0.6597, 0.6547, 0.6646, 20_000),
        None,
        Measured(0.00069, 0.00036, 0.00102, 40),
        0.0,
    ),
)
"""Measured in docs/benchmarks/players.md, without muggins. A level overlooks an item in fifty for each point by which
it misjudges."""
FIRST = LEVELS[2]
"""The level that a first player is offered."""


def level_of(agent: str) -> Level | None:
    """The level that an agent is, if it is one; ``agent`` is as in ``LEVELS``, or as a record names it."""
    return next((level for level in LEVELS if level.agent == agent.removesuffix(".0")), None)
