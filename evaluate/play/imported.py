"""A recorded game as one that the page can look through."""

from __future__ import annotations

from contextlib import suppress

from crib_env import parse_cards
from crib_env.agents import make_agent
from crib_env.agents.registry import NAMES, is_outside_agent
from crib_env.cards import format_card, format_cards
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.play.levels import level_of
from crib_env.evaluate.play.saved_game import GameSoFar


def imported(line: str) -> GameSoFar:
    """The game of a line of :meth:`crib_env.evaluate.matches.game_records.GameRecord.to_line`.

    A player called ``human`` is the person; otherwise it is the one in seat 0.

    Raises:
        ValueError: it is no game, or one that cannot be replayed.
    """
    record = GameRecord.of_line(line)
    record.check()
    other, first_dealer, scores, deals = 1, record.first_dealer, record.start_scores, list(record.deals)
    if record.players[1] == "human" != record.players[0]:
        other, first_dealer, scores = 0, 1 - first_dealer, (scores[1], scores[0])
        deals = [format_cards([*cards[6:12], *cards[:6], cards[12]]) for cards in map(parse_cards, deals)]
    opponent = record.players[other]
    cards = tuple(format_card(card) for deal in record.cards for card in parse_cards(deal))
    return GameSoFar(
        _plays_on(opponent),
        0,
        first_dealer,
        scores,
        cards,
        practice=True,
        missed=record.missed,
        deals=tuple(deals),
        opponent=opponent,
    )


def _plays_on(opponent: str) -> str:
    """Who plays against a person who tries a moment again: the opponent, if its name says all of it, or the best."""
    if level := level_of(opponent):
        return level.agent
    if opponent in NAMES and opponent != "human" and not is_outside_agent(opponent):
        with suppress(ValueError):  # it needs a file
            make_agent(opponent)
            return opponent
    return "best"
