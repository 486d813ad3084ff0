"""The messages of the page, and their fields; a method of ``Games`` answers each."""

from __future__ import annotations

from dataclasses import dataclass


class MovedOn(ValueError):
    """The page shows an older state of the game: it must load the present one."""


@dataclass(frozen=True)
class Nothing:
    """A message without fields."""


@dataclass(frozen=True)
class New:
    """A game to begin."""

    agent: str
    dealer: str
    """One of ``DEALERS``."""
    scores: tuple[int, int]
    seed: int | None
    practice: bool
    coach: str
    counting: str


@dataclass(frozen=True)
class Pair:
    """A game to begin between two people at this machine."""

    people: tuple[str, str]
    """Their names."""


@dataclass(frozen=True)
class OfGame:
    """A message about a game."""

    game: str


@dataclass(frozen=True)
class Line:
    """A recorded game."""

    line: str
    """See :mod:`crib_env.evaluate.matches.game_records`."""


@dataclass(frozen=True)
class At(OfGame):
    """A message about a moment of a game."""

    at: int
    """How many cards had been played then: in the game that the page shows, except in ``again`` and ``choices``."""


@dataclass(frozen=True)
class Cards(At):
    """Cards to discard or to lay."""

    cards: tuple[str, ...]


@dataclass(frozen=True)
class Said(At):
    """What the person says to the hand that is counted next."""

    counted: int
    """How many hands of this show the page has seen counted."""
    points: int
    """Of its own hand; or those that it claims of the other's, 0 for none."""


@dataclass(frozen=True)
class Answer:
    """What somebody would do in a position of the lesson."""

    position: str
    cards: tuple[str, ...]


@dataclass(frozen=True)
class Settings(OfGame):
    """The settings of the coach and of counting."""

    coach: str
    counting: str


MESSAGES: dict[str, type] = {
    "lobby": Nothing,
    "new": New,
    "pair": Pair,
    "take": At,
    "rematch": OfGame,
    "bring": Line,
    "delete": OfGame,
    "look": OfGame,
    "play": Cards,
    "count": Said,
    "stop": OfGame,
    "back": At,
    "again": At,
    "set": Settings,
    "hint": At,
    "notes": OfGame,
    "review": OfGame,
    "choices": At,
    "share": OfGame,
    "progress": Nothing,
    "lesson": Nothing,
    "answer": Answer,
}
"""What the page may ask, and the fields of each message; the method of ``Games`` of that name answers."""
