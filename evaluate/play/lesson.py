"""Lessons: ten positions a day, own blunders by theme, and a rush of discards, each answered by the coach.

The positions of a day are from a person's own blunders and from the casebook, which has discards that strong players
have published, with their answers: ``docs/casebook.md``.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews, format_card
from crib_env.agents.baselines import RandomAgent
from crib_env.agents.expert import ExpertAgent
from crib_env.cards import parse_cards
from crib_env.engine import DISCARD
from crib_env.evaluate.play.coach import Note, notes_on
from crib_env.evaluate.play.progress import Blunder, PlayedGame, read_lines, read_progress
from crib_env.evaluate.play.reasons import are_alike
from crib_env.evaluate.play.saved_game import FINISHED, PERSON, SavedGame, read_game
from crib_env.evaluate.skill.analysis.decisions import Moment
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
THEMES = {
    "cribs fed": ("opponent's crib",),
    "own cribs": ("your crib",),
    "hands broken up": ("hand", "play"),
    "fives led": ("five led", "five"),
    "answers invited": ("answer invited",),
    "points left": ("points now", "trap", "pair to trap"),
    "goes lost": ("go", "alone", "low card", "later"),
    "late holes": ("score",),
}
"""Themes of blunders, by the coach's reasons (:data:`crib_env.evaluate.play.reasons.REASONS`)."""
RUSH, SECONDS = "rush", 180
_IN_A_RUSH = 60  # positions
_LONGEST = 5  # right answers in a row; after more the pause does not grow
_ROW = np.zeros(1, np.int64)
_FILE = Path(__file__).parent / "data" / "casebook.json"


class Case(NamedTuple):
    """A published position before a discard."""

    cards: str  # the ranks of the six cards, ascending
    dealer: bool  # whether their holder deals
    scores: tuple[int, int] | None  # the holder's and the opponent's, if the source names them
    answers: dict[str, tuple[str, ...]]  # who would discard what, by ranks
    source: str  # the address of the page that it was published on
    suits: str = ""  # the six cards, if the source has suits

    @property
    def name(self) -> str:
        """As in ``A 2 3 4 J K as dealer at 0–0``; no other position has it."""
        scores = f" at {self.scores[0]}–{self.scores[1]}" if self.scores else ""
        return f"{self.cards} as {'dealer' if self.dealer else 'pone'}{scores}"

    def six(self) -> list[int]:
        """Its cards, ascending; without suits in the source, of all suits in turn."""
        mixed = " ".join(rank + "CDHS"[k % 4] for k, rank in enumerate(self.cards.split()))
        return sorted(parse_cards(self.suits or mixed))

    def before(self) -> np.ndarray:
        """(1,) the record of a game before the discard."""
        return _before(self.six(), self.dealer, self.scores or (0, 0))


@cache
def casebook() -> tuple[Case, ...]:
    """All positions."""
    return read_json(_FILE, f"{_FILE} is no casebook", lambda content: typed(content, tuple[Case, ...]))


class Answer(NamedTuple):
    """An answer that was given in a lesson."""

    day: str  # as in 2026-01-31
    position: str  # its id
    cards: tuple[str, ...]
    chance_lost: float
    points_lost: float = 0.0

    @property
    def is_right(self) -> bool:
        """Whether nothing is better, or hardly anything."""
        return are_alike(self.chance_lost, self.points_lost)


class Position(NamedTuple):
    """A decision that is asked for."""

    id: str  # the name of the case, or the game and the number of its card
    title: str
    games: np.ndarray  # (1,) the record of the game; the person has seat 0 and is to act
    case: Case | None = None  # of the casebook; None in a game of the person's own

    @property
    def n_cards(self) -> int:
        """How many cards are to be chosen."""
        return 2 if self.games["phase"][0] == DISCARD else 1

    def view(self) -> PlayerViews:
        """What the person sees."""
        return views_of(self.games, _ROW, _ROW + PERSON, _ROW)


class Lesson:
    """The lesson of a day: its positions do not change in the course of it.

    Own blunders of games of earlier days come first, the costliest at the head: those that are due. After a miss a
    blunder is due on the next day, after right answers in a row 3, 9, 27, ... days later. The rest is from the casebook
    in the day's own order; those that were answered rightly come last.

    Args:
        folder: of the games; answers are kept in it.
        day: of the lesson.
        theme: of ``THEMES``, for blunders of this theme alone; empty for all, and the casebook.

    Attributes:
        due: how many blunders are due, by theme.
    """

    _ends: datetime | None = None

    def __init__(self, folder: Path, day: date, theme: str = "") -> None:
        if theme not in ("", *THEMES):
            raise ValueError(f"there is no theme {theme[:40]!r}: choose one of {', '.join(THEMES)}")
        self._keep_in(folder / NAME, day.isoformat())
        right: dict[str, int] = {}  # in a row
        pauses: dict[str, date] = {}
        for answer in self._answers:
            if answer.day < self.day:
                right[answer.position] = n = right.get(answer.position, 0) + 1 if answer.is_right else 0
                pauses[answer.position] = date.fromisoformat(answer.day) + timedelta(days=3 ** min(n, _LONGEST))
        blunders = [
            (blunder, game)
            for game in read_progress(folder)
            for blunder in game.blunders
            if game.game < f"{day:%Y%m%d}" and pauses.get(_name(blunder, game), day) <= day
        ]
        blunders.sort(key=lambda one: -one[0].chance_lost)
        self.due = {name: sum(one.reason in reasons for one, _ in blunders) for name, reasons in THEMES.items()}
        if theme:
            of_theme = (one for one in blunders if one[0].reason in THEMES[theme])
            self.positions = (*islice(_own(folder, of_theme), POSITIONS),)
            return
        cases = [Position(one.name, "From the casebook.", one.before(), one) for one in casebook()]
        random.Random(day.toordinal()).shuffle(cases)
        cases.sort(key=lambda case: right.get(case.id, 0) > 0)
        self.positions = (*islice(_own(folder, blunders), OWN), *cases)[:POSITIONS]

    def _keep_in(self, file: Path, day: str) -> None:
        self.day, self._file, self._answers = day, file, read_lines(file, Answer, "an answer of a lesson")

    @property
    def counts(self) -> bool:
        """Whether answers still count."""
        return self._ends is None or datetime.now() < self._ends

    def given(self) -> dict[str, Answer]:
        """The answers of this day, the first to each position."""
        today = [answer for answer in self._answers if answer.day == self.day]
        return {answer.position: answer for answer in reversed(today)}

    def position(self, name: str) -> Position:
        """A position by its id; a ValueError if it is none of this lesson."""
        for position in self.positions:
            if position.id == name:
                return position
        raise ValueError(f"the lesson has no position {name[:40]!r}: load it again")

    def judged(self, position: Position, cards: Sequence[int], judge: PlayJudge) -> Note:
        """What the coach says to an answer, which is kept if it is the first of the day to this position."""
        view = position.view()
        if len({*cards}) != position.n_cards or not all(view.action_mask[0, card] for card in cards):
            raise ValueError(f"name {position.n_cards} of the cards that you may play")
        card, pair = cards[0], cards[-1] if len(cards) > 1 else -1
        moment = Moment(_ROW, _ROW + PERSON, view, *(np.array([n]) for n in (0, 0, card, pair)))
        (note,) = notes_on(0, moment, ExpertAgent(), judge)
        if self.counts and position.id not in self.given():
            chosen, lost = tuple(map(format_card, cards)), note.decision
            answer = Answer(self.day, position.id, chosen, lost.chance_lost, lost.points_lost)
            add_lines(self._file, [json.dumps(answer._asdict())])
            self._answers.append(answer)
        return note

    def best(self) -> int:
        """Right answers of the best day; of the best rush."""
        return max(Counter(answer.day for answer in self._answers if answer.is_right).values(), default=0)


class Rush(Lesson):
    """Discards at 0–0 against the clock; they follow from when it began. What is answered too late does not count."""

    def __init__(self, folder: Path, began: datetime) -> None:
        self._keep_in(folder / f"{RUSH}.jsonl", began.isoformat())
        self._ends, self.due = began + timedelta(seconds=SECONDS), {}
        rng = random.Random(self.day)
        dealt = [(sorted(rng.sample(range(52), 6)), rng.random() < 0.5) for _ in range(_IN_A_RUSH)]
        self.positions = tuple(Position(str(k), "", _before(*one)) for k, one in enumerate(dealt))


def _name(blunder: Blunder, game: PlayedGame) -> str:
    return f"{game.game}/{blunder.at}"


def _before(six: Sequence[int], is_dealer: bool, scores: Sequence[int] = (0, 0)) -> np.ndarray:
    return before_discards(np.array([six]), np.array([is_dealer]), np.array([scores]))


def _own(folder: Path, blunders: Iterable[tuple[Blunder, PlayedGame]]) -> Iterator[Position]:
    """The positions of blunders; those of deleted games are left out."""
    for blunder, game in blunders:
        with suppress(ValueError, IndexError):
            file, day = folder / FINISHED / f"{game.game}.json", game.game
            found = SavedGame(read_game(file), RandomAgent(0), file)
            title = f"From your game against {game.opponent} of {day[:4]}-{day[4:6]}-{day[6:8]}."
            if blunder.at in found.decisions():
                yield Position(_name(blunder, game), title, found.played[blunder.at].before)
