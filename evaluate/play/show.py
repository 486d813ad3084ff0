"""A show that is counted by hand: whose count is due, and what a weaker opponent says of its own hand.

The engine counts all hands in one step, after the last card of a deal. So that card, which is never a choice, is held
back until all is said; what was missed is then written to the game, and the card laid. A show ends early where a peg
reaches the last hole, also by muggins.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import numpy as np

from crib_env.engine import EVENTS, OVER, SHOWN
from crib_env.evaluate.matches.muggins import Hand, Missed, hands_shown, write_missed
from crib_env.evaluate.play.levels import level_of
from crib_env.picture.seen import stages


class Show:
    """A show, and how far it is counted.

    Args:
        before: (1,) the game before the last card of a deal.
        card: that card.
        counted: how many hands have been counted.
        missed: what has been overlooked in the game.
    """

    def __init__(self, before: np.ndarray, card: int, counted: int, missed: tuple[Missed, ...]) -> None:
        self.counted = counted
        write_missed(before, missed)
        self.stages = list(stages(before, card))[: counted + 1]
        """The game after the last card, and after each hand that has been counted."""
        self._hands = hands_shown(before)

    @property
    def games(self) -> np.ndarray:
        """(1,) as it stands."""
        return self.stages[-1]

    @property
    def is_over(self) -> bool:
        """Whether no hand is left to count."""
        return self.counted == SHOWN or bool(self.games["phase"][0] == OVER)

    @property
    def hand(self) -> Hand:
        """What is to be counted next."""
        return self._hands[self.counted]

    @property
    def laid_open(self) -> np.ndarray:
        """(1,) the game with this hand face up, not yet counted."""
        games = self.games.copy()
        games["n_events"], games["event_points"][0, 0] = 1, 0
        games["event_player"][0, 0], games["event_kind"][0, 0] = self.hand.owner, EVENTS.index(self.hand.name)
        return games

    def said_by(self, agent: str, seed: int) -> int:
        """What an agent says of this hand in the game of a seed: each of its items is overlooked with the same chance
        (:attr:`crib_env.evaluate.play.levels.Level.overlooks`); none is seen that is not there."""
        level, hand = level_of(agent), self.hand
        chance = Random(f"{seed} {self.games['n_deals'][0]} {hand.name}")
        return sum(item.points for item in hand.items if not (level and chance.random() < level.overlooks))


class Count(NamedTuple):
    """A hand that has been counted, and what the other said to it."""

    hand: Hand
    said: int
    """By its owner."""
    asked: int
    """For so many points that were missed."""
    claimed: int
    """Of these, the points that were granted; none if more were asked for than are missed."""

    @classmethod
    def of(cls, hand: Hand, said: int, asked: int) -> Count:
        """By the rules: a claim of more points than were missed is granted none."""
        return cls(hand, said, asked, asked if asked <= hand.points - said else 0)

    @property
    def missed(self) -> int:
        """Points that the owner does not peg. Who says too much pegs what is there."""
        return max(0, self.hand.points - self.said)
