"""Games whose cards are given: recorded ones, which are taken in, and the deal of the day with its par."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

from crib_env import format_card, parse_cards
from crib_env.agents import make_agent
from crib_env.agents.registry import NAMES, is_outside_agent
from crib_env.cards import format_cards
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.play.coach import Coach
from crib_env.evaluate.play.levels import LEVELS, level_of
from crib_env.evaluate.play.saved_game import PERSON, GameSoFar, SavedGame
from crib_env.evaluate.skill.analysis.judges import PlayJudge

REPLAY = "#replay/"
"""What stands before a recorded game in the address of the page."""
_MARKS = {"best": "✓", "error": "~", "blunder": "✗"}


def imported(text: str) -> GameSoFar:
    """A recorded game as a line of :meth:`GameRecord.to_line`, or as a link to it (:meth:`GameRecord.to_code`).

    A player called ``human`` is the person; otherwise it is the one in seat 0.

    Raises:
        ValueError: it is no game, or one that cannot be replayed.
    """
    record = GameRecord.of_line(text) if text.startswith("{") else GameRecord.of_code(text.rpartition(REPLAY)[2])
    record.check()
    other, first_dealer, scores, deals = 1, record.first_dealer, record.start_scores, list(record.deals)
    if record.players[1] == "human" != record.players[0]:
        other, first_dealer, scores = 0, 1 - first_dealer, (scores[1], scores[0])
        deals = [format_cards([*cards[6:12], *cards[:6], cards[12]]) for cards in map(parse_cards, deals)]
    opponent = record.players[other]
    cards = tuple(format_card(card) for deal in record.cards for card in parse_cards(deal))
    start = GameSoFar(_plays_on(opponent), 0, first_dealer, scores, cards, practice=True, opponent=opponent)
    return replace(start, missed=record.missed, deals=tuple(deals))


def _plays_on(opponent: str) -> str:
    """Who plays against a person who tries a moment again: the opponent, if its name says all of it, or the best."""
    if level := level_of(opponent):
        return level.agent
    if opponent in NAMES and opponent != "human" and not is_outside_agent(opponent):
        with suppress(ValueError):  # it needs a file
            make_agent(opponent)
            return opponent
    return "best"


def deal_of(day: date) -> GameSoFar:
    """The deal of a day against ``best``: its seed is the date, so that all people have the same cards."""
    return GameSoFar(LEVELS[-1].agent, int(f"{day:%Y%m%d}"), None, (0, 0), (), coach="off", day=day.isoformat())


def par_of(day: date, judge: PlayJudge) -> tuple[int, int]:
    """The points of the person and of the opponent in the deal of a day, if the person makes the coach's choices.

    They are certain: ``best`` does not draw what it plays in deals.
    """
    start, cards = deal_of(day), list[str]()
    agent = make_agent(start.agent)
    while not (game := SavedGame(replace(start, cards=tuple(cards)), agent, Path())).is_over:
        chosen = Coach(game, judge).hint().cards if game.turn == PERSON else [game.agents_card()]
        cards += map(format_card, chosen)
    own, other = game.games["scores"][0].tolist()
    return own, other


def _better(coach: Coach, par: tuple[int, int]) -> int:
    """How many net points the person made beyond par."""
    own, other = coach.game.games["scores"][0].tolist()
    return int(own - other - (par[0] - par[1]))


def day_rows(coach: Coach, par: tuple[int, int]) -> Iterator[tuple[str, ...]]:
    """The figures of a finished deal of a day, as :func:`crib_env.evaluate.play.coach.review_rows` gives a game's."""
    yield "points", *map(str, coach.game.games["scores"][0].tolist())
    yield "par: points by the coach's choices", *map(str, par)
    yield "against par", f"{_better(coach, par):+d}", f"{-_better(coach, par):+d}"
    lost = sum(note.decision.points_lost for note in coach.notes())
    yield "your choices lose, points on average", f"{lost:.2f}", ""


def tell_day(coach: Coach, par: tuple[int, int]) -> str:
    """The result of a finished deal of a day, to be shared: no cards, and a mark for each choice."""
    game, marks = coach.game, "".join(_MARKS[note.size] for note in coach.notes())
    own, other = game.games["scores"][0].tolist()
    points = f"{own} to {other} against {game.names[1]}, par {par[0]} to {par[1]}: {_better(coach, par):+d}"
    return f"Cribbage, deal of {game.so_far.day}\n{points}\n{marks}"
