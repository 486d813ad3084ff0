"""Kernels compiled before anybody waits for them: whole games played behind the page, in the order of their need."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

from crib_env.evaluate.play.coach import Coach
from crib_env.evaluate.play.lesson import Lesson
from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.page.as_json import (
    choices_as_json,
    hint_as_json,
    lesson_as_json,
    notes_as_json,
    review_as_json,
    share_as_json,
    state,
)
from crib_env.evaluate.play.saved_game import AGENT, GameSoFar, SavedGame
from crib_env.evaluate.skill.analysis.judges import PlayJudge

_STARTS = ((0, 0), (105, 105))  # the second has the kernels of the end of a game soonest


class Warm(NamedTuple):
    """What is compiled or loaded."""

    table: bool
    """The offered agent."""
    coach: bool
    """Notes and hints."""
    all: bool
    """Also the reviews of finished games, and the other levels."""
    says: str
    """What is made ready now; empty when all is."""


COLD, READY = Warm(False, False, False, "your opponent"), Warm(True, True, True, "")


def warmed_up(agent: str, judge: PlayJudge) -> Iterator[Warm]:
    """What is ready, each time that more of it is.

    Raises:
        ValueError: the agent cannot be made.
    """
    with tempfile.TemporaryDirectory() as folder:
        play_through(agent)
        yield Warm(True, False, False, "the coach")
        coaches = [Coach(game, judge) for game in reversed(_begun("random", folder))]
        for coach in coaches:
            _play(coach.game, coach)
        yield Warm(True, True, False, "the review of games")
        for coach in coaches:
            review_as_json(coach)
            share_as_json(coach)
            for at in coach.game.decisions()[:4]:
                choices_as_json(*coach.game.view_at(at), judge)
        lesson_as_json(Lesson(Path(folder), date.today()))  # answers are judged as decisions of games are
        for other in {LEVELS[0].agent, LEVELS[-1].agent} - {agent}:  # the levels between err as the first does
            play_through(other)
    yield READY


def play_through(agent: str) -> None:
    """Plays whole games against an agent, without the coach.

    Raises:
        ValueError: the agent cannot be made.
    """
    with tempfile.TemporaryDirectory() as folder:
        for game in _begun(agent, folder):
            _play(game, None)


def _begun(agent: str, folder: str) -> list[SavedGame]:
    return [SavedGame.begin_in(GameSoFar(agent, 0, None, scores, ()), Path(folder)) for scores in _STARTS]


def _play(game: SavedGame, coach: Coach | None) -> None:
    """Plays a game to its end, in which a person lays its lowest cards; the coach says all that it can."""
    while not game.is_over:
        if game.turn == AGENT:
            game.play(game.agents_card())
            continue
        if coach:
            hint_as_json(coach.hint())
        game.play(int(game.view().action_mask[0].argmax()))
        if coach:
            notes_as_json(coach)
    state(game, (0, 0))
    game.close()
