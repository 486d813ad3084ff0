"""Games whose cards are given: recorded ones, which are taken in, and the deal of the day with its par."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

from crib_env import format_card, parse_cards
from crib_env.agents import make_agent
from crib_env.cards import format_cards
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.play.coach import Coach
from crib_env.evaluate.play.levels import LEVELS, OFFERED, level_of
from crib_env.evaluate.play.saved_game import PERSON, GameSoFar, SavedGame
from crib_env.evaluate.skill.analysis.judges import PlayJudge

REPLAY = "#replay/"
"""What stands before a recorded game in the address of the page."""
_MARKS = {"best": "✓", "error": "~", "blunder": "✗"}


def imported(text: str) -> GameSoFar:
    """A recorded game as a line of :meth:`GameRecord.to_line`, or as a link to it (:meth:`GameRecord.to_code`).

    A player called ``human`` is the person; otherwise it is the one in seat 0. A ValueError if it cannot be replayed.
    """
    record = GameRecord.of_line(text) if text.startswith("{") else GameRecord.of_code(text.rpartition(REPLAY)[2])
    record.check()
    other, first_dealer, scores, deals = 1, record.first_dealer, record.start_scores, list(record.deals)
    if record.players[1] == "human" != record.players[0]:
        other, first_dealer, scores = 0, 1 - first_dealer, (scores[1], scores[0])
        deals = [format_cards([*cards[6:12], *cards[:6], cards[12]]) for cards in map(parse_cards, deals)]
    opponent = record.players[other]
    cards = tuple(format_card(card) for deal in record.cards for card in parse_cards(deal))
    level = level_of(opponent)
    # who plays on from a moment: the opponent, if its name says all of it, or the best
    agent = level.agent if level else opponent if opponent in OFFERED else "best"
    return GameSoFar(agent, 0, first_dealer, scores, cards, practice=True, deals=tuple(deals), opponent=opponent)


def deal_of(day: date) -> GameSoFar:
    """The deal of a day against ``best``: its seed is the date, so that all people have the same cards."""
    return GameSoFar(LEVELS[-1].agent, int(f"{day:%Y%m%d}"), None, (0, 0), (), coach="off", day=day.isoformat())


def par_of(day: str, judge: PlayJudge) -> tuple[int, int]:
    """The points of the person and of the opponent in the deal of a day, if the person makes the coach's choices.

    They are certain: ``best`` does not draw what it plays in deals.
    """
    start, cards = deal_of(date.fromisoformat(day)), list[str]()
    agent = make_agent(start.agent)
    while not (game := SavedGame(replace(start, cards=tuple(cards)), agent, Path())).is_over:
        chosen = Coach(game, judge).hint().cards if game.turn == PERSON else [game.agents_card()]
        cards += map(format_card, chosen)
    own, other = game.games["scores"][0].tolist()
    return own, other


def day_rows(coach: Coach, par: tuple[int, int]) -> Iterator[tuple[str, ...]]:
    """The figures of a finished deal of a day, as :func:`crib_env.evaluate.play.coach.review_rows` gives a game's."""
    own, other = coach.game.games["scores"][0].tolist()
    better = own - other - (par[0] - par[1])
    yield "points", str(own), str(other)
    yield "par: points by the coach's choices", *map(str, par)
    yield "against par", f"{better:+d}", f"{-better:+d}"
    lost = sum(note.decision.points_lost for note in coach.notes())
    yield "your choices lose, points on average", f"{lost:.2f}", ""


def tell_day(coach: Coach, par: tuple[int, int]) -> str:
    """The result of a finished deal of a day, to be shared: no cards, and a mark for each choice."""
    game, marks = coach.game, "".join(_MARKS[note.size] for note in coach.notes())
    own, other = game.games["scores"][0].tolist()
    better = own - other - (par[0] - par[1])
    points = f"{own} to {other} against {game.names[1]}, par {par[0]} to {par[1]}: {better:+d}"
    return f"Cribbage, deal of {game.so_far.day}\n{points}\n{marks}"
