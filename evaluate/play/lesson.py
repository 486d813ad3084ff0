"""A lesson of ten positions a day, from a person's own blunders and from the casebook, with the coach's answers.

The casebook has discards that strong players have published, with their answers: ``docs/casebook.md``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews, format_card
from crib_env.agents.baselines import RandomAgent
from crib_env.agents.expert import ExpertAgent
from crib_env.cards import parse_cards
from crib_env.engine import DISCARD
from crib_env.evaluate.play.coach import Note, notes_on
from crib_env.evaluate.play.progress import read_lines, read_progress
from crib_env.evaluate.play.saved_game import FINISHED, PERSON, SavedGame, read_game
from crib_env.evaluate.skill.analysis.decisions import LEAST, Moment
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.evaluate.skill.positions import before_discards
from crib_env.files.json_text import read_json
from crib_env.files.whole_file import add_lines
from crib_env.values import typed
from crib_env.views import views_of

NAME = "lessons.jsonl"
POSITIONS = 10
OWN = 5
"""At most so many of a lesson are the person's own."""
_ROW = np.zeros(1, np.int64)
_FILE = Path(__file__).parent / "data" / "casebook.json"


class Case(NamedTuple):
    """A position before a discard."""

    cards: str
    """The ranks of the six cards, ascending."""
    dealer: bool
    """Whether their holder deals."""
    scores: tuple[int, int] | None
    """The holder's and the opponent's; None where the source names none."""
    answers: dict[str, tuple[str, ...]]
    """Who would discard what, by ranks."""
    source: str
    """The address of the page that it was published on."""
    suits: str = ""
    """The six cards, where the source has suits."""

    @property
    def name(self) -> str:
        """As in ``A 2 3 4 J K as dealer at 0–0``; no other position has it."""
        scores = f" at {self.scores[0]}–{self.scores[1]}" if self.scores else ""
        return f"{self.cards} as {'dealer' if self.dealer else 'pone'}{scores}"

    def six(self) -> list[int]:
        """Its cards, ascending; without suits in the source, of as many as there are."""
        mixed = " ".join(rank + "CDHS"[k % 4] for k, rank in enumerate(self.cards.split()))
        return sorted(parse_cards(self.suits or mixed))


@cache
def casebook() -> tuple[Case, ...]:
    """All positions."""
    return read_json(_FILE, f"{_FILE} is no casebook", lambda content: typed(content, tuple[Case, ...]))


class Answer(NamedTuple):
    """An answer that was given in a lesson."""

    day: str
    """As in 2026-01-31."""
    position: str
    """Its id."""
    cards: tuple[str, ...]
    chance_lost: float


class Position(NamedTuple):
    """A decision that is asked for."""

    id: str
    """The name of the case, or the game and the number of its card."""
    title: str
    games: np.ndarray
    """(1,) the record of the game; the person has seat 0 and is to act."""
    case: Case | None
    """Of the casebook; None in a game of the person's own."""

    @property
    def n_cards(self) -> int:
        """How many cards are to be chosen."""
        return 2 if self.games["phase"][0] == DISCARD else 1

    def view(self) -> PlayerViews:
        """What the person sees."""
        return views_of(self.games, _ROW, _ROW + PERSON, _ROW)


class Lesson:
    """The lesson of a day: its positions do not change in the course of it.

    Own blunders of games of earlier days come first, the costliest at the head, each until it has been answered as well
    as can be on an earlier day. The rest is from the casebook in the day's own order; those that were answered so come
    last.
    """

    def __init__(self, folder: Path, day: date) -> None:
        self.day, self._folder, self._answers = day, folder, read_lines(folder / NAME, Answer, "an answer of a lesson")
        earlier = [answer for answer in self._answers if answer.day < day.isoformat()]
        known = {answer.position for answer in earlier if answer.chance_lost < LEAST}
        own = [one for one in _own(folder, f"{day:%Y%m%d}") if one.id not in known][:OWN]
        cases = [_of_case(case) for case in casebook()]
        random.Random(day.toordinal()).shuffle(cases)
        cases.sort(key=lambda case: case.id in known)
        self.positions = (*own, *cases[: POSITIONS - len(own)])

    def given(self) -> dict[str, Answer]:
        """The answers of this day, the first to each position."""
        today = [answer for answer in self._answers if answer.day == self.day.isoformat()]
        return {answer.position: answer for answer in reversed(today)}

    def position(self, name: str) -> Position:
        """A position by its id.

        Raises:
            ValueError: it is none of this lesson.
        """
        for position in self.positions:
            if position.id == name:
                return position
        raise ValueError(f"the lesson has no position {name[:40]!r}: load it again")

    def judged(self, position: Position, cards: Sequence[int], judge: PlayJudge) -> Note:
        """What the coach says to an answer, which is kept if it is the first of the day to this position.

        Raises:
            ValueError: the cards cannot be chosen.
            OSError: it cannot be kept.
        """
        view = position.view()
        if len({*cards}) != position.n_cards or not all(view.action_mask[0, card] for card in cards):
            raise ValueError(f"name {position.n_cards} of the cards that you may play")
        card, pair = cards[0], cards[-1] if len(cards) > 1 else -1
        moment = Moment(_ROW, _ROW + PERSON, view, *(np.array([n]) for n in (0, 0, card, pair)))
        (note,) = notes_on(0, moment, ExpertAgent(), judge)
        if position.id not in self.given():
            chosen = tuple(map(format_card, cards))
            answer = Answer(self.day.isoformat(), position.id, chosen, note.decision.chance_lost)
            add_lines(self._folder / NAME, [json.dumps(answer._asdict())])
            self._answers.append(answer)
        return note


def _of_case(case: Case) -> Position:
    scores = np.array([case.scores or (0, 0)])
    games = before_discards(np.array([case.six()]), np.array([case.dealer]), scores)
    return Position(case.name, "From the casebook", games, case)


def _own(folder: Path, today: str) -> Iterator[Position]:
    """Blunders of games before a day, the costliest first; those of deleted games are left out."""
    blunders = [(blunder, game) for game in read_progress(folder) for blunder in game.blunders if game.game < today]
    for (at, _), game in sorted(blunders, key=lambda one: -one[0].chance_lost):
        with suppress(ValueError, IndexError):
            file, day = folder / FINISHED / f"{game.game}.json", game.game
            found = SavedGame(read_game(file), RandomAgent(0), file)
            title = f"From your game against {game.opponent} of {day[:4]}-{day[4:6]}-{day[6:8]}"
            if at in found.decisions():
                yield Position(f"{day}/{at}", title, found.played[at].before, None)
