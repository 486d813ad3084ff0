"""A recorded game as the tables that a spectator sees, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crib_env import parse_cards
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.picture.seen import Table, see, stages

_MILLISECONDS = {"discard": 900, "play": 1_100, "show": 2_600}


class Frame(NamedTuple):
    """A moment of a game."""

    deal: int
    """From 1."""
    table: Table


def frames(record: GameRecord, deal: int | None = None) -> Iterator[Frame]:
    """A game from the first cards to the last count, both hands and the crib face up.

    Args:
        record: the game.
        deal: this deal only, counted from 1.

    Raises:
        ValueError: the game cannot be replayed.
    """
    env = record.begin()
    for number, cards in enumerate(record.cards, start=1):
        dealt = env.games.copy()
        dealt["n_events"] = 0  # these are the events of the deal before
        if deal in (None, number):
            yield Frame(number, see(dealt, None, names=record.names))
        for card in parse_cards(cards):
            if deal in (None, number):
                for games in stages(env.games, card):
                    yield Frame(number, see(games, None, names=record.names))
            env.step(card)


def milliseconds(table: Table) -> int:
    """How long to show a table."""
    return _MILLISECONDS["discard" if table.count is None else "show" if table.counted else "play"]
