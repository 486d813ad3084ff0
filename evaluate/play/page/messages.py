"""The requests of the page: each a name and a message of typed fields."""

from __future__ import annotations

from dataclasses import dataclass


class MovedOn(ValueError):
    """The page shows an older state of the game: it must load the present one."""


@dataclass(frozen=True)
class Lobby:
    """List the games."""


@dataclass(frozen=True)
class New:
    """Begin a game."""

    agent: str
    dealer: str
    """``cut``, ``me`` or ``agent``."""
    scores: tuple[int, int]
    seed: int | None
    practice: bool
    coach: str
    counts: bool


@dataclass(frozen=True)
class Look:
    """The state of a game."""

    game: str


@dataclass(frozen=True)
class Play:
    """Discard or lay."""

    game: str
    at: int
    """How many cards had been played in the game that the page shows."""
    cards: tuple[str, ...]


@dataclass(frozen=True)
class Back:
    """Take the last decision back, in a practice game."""

    game: str
    at: int


@dataclass(frozen=True)
class Again:
    """Begin a practice game at a decision of another game."""

    game: str
    at: int
    """Number of the card before which it begins."""


@dataclass(frozen=True)
class Set:
    """Change the settings of the coach and of counting."""

    game: str
    coach: str
    counts: bool


@dataclass(frozen=True)
class Hint:
    """What the coach would do."""

    game: str
    at: int


@dataclass(frozen=True)
class Notes:
    """The coach's comments so far."""

    game: str


@dataclass(frozen=True)
class Review:
    """The coach on a finished game."""

    game: str
