"""Points that players overlook in the show, where hands are counted by hand: what a record says of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crib_env.engine import CRIB, EVENTS, PONES_HAND
from crib_env.scoring import ShowItem, explain_show

HANDS = EVENTS[PONES_HAND : CRIB + 1]
"""The hands of a show, in the order in which they are counted."""
HIGHEST = 29
"""No hand is worth more."""


@dataclass(frozen=True)
class Missed:
    """What was overlooked of one hand."""

    deal: int
    """From 1."""
    hand: str
    """One of ``HANDS``."""
    points: int
    """That its owner overlooked."""
    claimed: int
    """Of these, the points that the other player claimed and pegged; nobody pegs the others."""

    def __post_init__(self) -> None:
        if self.hand not in HANDS:
            raise ValueError(f"hand={self.hand!r} is not allowed: choose of {', '.join(HANDS)}")
        if not (self.deal >= 1 and 1 <= self.points <= HIGHEST and 0 <= self.claimed <= self.points):
            raise ValueError(f"{self} is not allowed: from 1 to {HIGHEST} points are missed, and no more are claimed")


def write_missed(games: np.ndarray, missed: Iterable[Missed]) -> None:
    """Writes what is missed in the present deal of a game (1,), before the last card of the deal."""
    games["missed"], games["claimed"] = 0, 0
    for one in missed:
        if one.deal == games["n_deals"][0]:
            hand = HANDS.index(one.hand)
            games["missed"][0, hand], games["claimed"][0, hand] = one.points, one.claimed


class Hand(NamedTuple):
    """A hand of the show, or the crib."""

    name: str
    """One of ``HANDS``."""
    owner: int
    cards: tuple[int, ...]
    """By rank."""
    starter: int

    @property
    def is_crib(self) -> bool:
        """Whether it is the crib."""
        return self.name == EVENTS[CRIB]

    @property
    def points(self) -> int:
        """What it is worth."""
        return sum(item.points for item in self.items)

    @property
    def items(self) -> list[ShowItem]:
        """What it is worth, line by line."""
        return explain_show(self.cards, self.starter, crib=self.is_crib)


def hands_shown(games: np.ndarray) -> list[Hand]:
    """The hands of the show of a game (1,) in which all have discarded, in the order of ``HANDS``."""
    dealer, starter = int(games["dealer"][0]), int(games["cards"][0, 12])
    kept, crib = games["kept"][0].tolist(), int(games["discards"][0, 0] | games["discards"][0, 1])
    shown = zip(HANDS, (1 - dealer, dealer, dealer), (kept[1 - dealer], kept[dealer], crib))
    by_rank = sorted(range(52), key=lambda card: card % 13)
    return [Hand(name, owner, tuple(card for card in by_rank if of >> card & 1), starter) for name, owner, of in shown]


def hands_counted(games: np.ndarray) -> tuple[str, ...]:
    """The names of the hands that were counted by the last step of a game (1,)."""
    kinds = games["event_kind"][0, : games["n_events"][0]].tolist()
    return tuple(EVENTS[kind] for kind in kinds if EVENTS[kind] in HANDS)


def check_missed(before: np.ndarray, counted: Sequence[str], missed: Sequence[Missed]) -> None:
    """Checks what was missed in a deal.

    Args:
        before: (1,) the game before the last card of the deal.
        counted: names of the hands that have been counted since.
        missed: of the whole game.

    Raises:
        ValueError: a hand was not counted, is worth less, or is named twice.
    """
    deal = int(before["n_deals"][0])
    if not any(one.deal == deal for one in missed):
        return
    worth = {hand.name: hand.points for hand in hands_shown(before) if hand.name in counted}
    for one in missed:
        if one.deal != deal:
            continue
        if one.points > (points := worth.pop(one.hand, 0)):
            raise ValueError(f"deal {deal}: {one.points} points of {one.hand} cannot be missed: there are {points}")
