"""What the page may ask for: a name and a message of typed fields."""

from __future__ import annotations

from dataclasses import dataclass


class MovedOn(ValueError):
    """The page has asked about a moment that is past: it has to look again."""


@dataclass(frozen=True)
class Lobby:
    """Which games there are."""


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
    """A game as it stands."""

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
    """A practice game from a moment of another game on."""

    game: str
    at: int
    """Number of the card before which it begins."""


@dataclass(frozen=True)
class Set:
    """Change what is told and asked."""

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
    """What the coach has to say so far."""

    game: str


@dataclass(frozen=True)
class Review:
    """The coach on a finished game."""

    game: str
