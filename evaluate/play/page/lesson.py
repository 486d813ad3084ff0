"""The lesson of a day as the page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crib_env.evaluate.play.lesson import Answer, Lesson, Position
from crib_env.evaluate.play.page.review import choices_as_json
from crib_env.evaluate.play.page.views import moment_of, note_as_json
from crib_env.evaluate.skill.analysis.decisions import LEAST
from crib_env.evaluate.skill.analysis.judges import PlayJudge

_NAMES = ("you", "your opponent")


def lesson_as_json(lesson: Lesson) -> dict[str, Any]:
    """The positions, without their answers."""
    given = lesson.given()
    return {
        "day": lesson.day.isoformat(),
        "positions": [
            {
                "id": position.id,
                "title": position.title,
                "choose": position.n_cards,
                "frame": moment_of(position.games, _NAMES),
                "given": position.id in given and _given(given[position.id]),
            }
            for position in lesson.positions
        ],
    }


def _given(answer: Answer) -> dict[str, Any]:
    return {"cards": list(answer.cards), "right": answer.chance_lost < LEAST}


def answer_as_json(lesson: Lesson, position: Position, cards: Sequence[int], judge: PlayJudge) -> dict[str, Any]:
    """What the coach says to an answer, all choices in columns, and what strong players have published.

    Raises:
        ValueError: the cards cannot be chosen.
        OSError: the answer cannot be kept.
    """
    note = lesson.judged(position, cards, judge)
    answers = position.case.answers if position.case else {}
    return {
        "note": note_as_json(note),
        "right": note.decision.chance_lost < LEAST,
        "choices": choices_as_json(position.view(), cards, judge),
        "published": [[ranks, list(people)] for ranks, people in answers.items()],
    }
