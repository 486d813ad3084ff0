"""The games of the page, and its messages: each game is one file, opened at its first request."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

from crib_env import parse_card
from crib_env.agents.registry import is_outside_agent
from crib_env.evaluate.play.coach import HOW, review_rows
from crib_env.evaluate.play.given_deals import day_rows, deal_of, imported, par_of, tell_day
from crib_env.evaluate.play.lesson import RUSH, SECONDS, Lesson, Rush
from crib_env.evaluate.play.levels import FIRST, LEVELS, OFFERED, level_of
from crib_env.evaluate.play.page import as_json
from crib_env.evaluate.play.page.as_json import cards_as_text, choices_as_json, latest_first, note_as_json
from crib_env.evaluate.play.progress import charts, keep, played_game, progress_rows, rating, read_progress
from crib_env.evaluate.play.saved_game import (
    DEALERS,
    FINISHED,
    Coaching,
    Dealer,
    GameSoFar,
    SavedGame,
    Score,
    read_game,
)
from crib_env.evaluate.play.sitting import Looker, Sitting
from crib_env.evaluate.skill.analysis.judges import PlayJudge, play_judge
from crib_env.evaluate.skill.luck.variates import WINS
from crib_env.files.json_text import parse_json
from crib_env.values import Seed, typed

if TYPE_CHECKING:
    from crib_env.evaluate.play.page.rolling import Rolling

COLD, COACH, REVIEWS, READY = "your opponent", "the coach", "the review of games", ""
"""What is compiled or loaded now, in this order."""


class MovedOn(ValueError):
    """The page shows an older state of the game: it must load the present one."""


class Games:
    """All games of a folder. Each public method answers the message of its name, whose fields are its arguments.

    In these ``game`` is the id of a game, and ``at`` how many cards had been played at a moment: in the game that the
    page shows, except in ``again`` and ``choices``.

    Args:
        folder: an existing folder for the games.
        record: the file that finished games are added to.
        offered: the new game that the page offers. Its agent is the only one that may come from the user's own code.
        resumed: id of the game to open first.
        seed: of the deals that the page offers; None for others in each game.
        opponents: agents that the page lists beside the levels.
        others: whether other agents may be named.
        judge: of the play, for the coach.
    """

    def __init__(
        self,
        folder: Path,
        record: Path,
        offered: GameSoFar,
        *,
        resumed: str | None = None,
        seed: int | None = None,
        opponents: Sequence[str] = OFFERED,
        others: bool = True,
        judge: PlayJudge | None = None,
    ) -> None:
        self._folder, self._record, self.offered = folder, record, offered
        self._resumed, self._seed, self._opponents, self._others = resumed, seed, opponents, others
        self._judge = judge or play_judge()
        self._open: dict[str, Sitting] = {}
        self._rush: Rush | None = None  # the last one
        self._par = cache(lambda day: par_of(day, self._judge))
        self._rolling: Rolling | None = None  # the rollout that goes on
        self._lock = threading.Lock()  # one request at a time uses a game
        self.warm = COLD

    def close(self) -> None:
        """Lets other processes open the games, and stops a rollout."""
        if self._rolling:
            self._rolling.stop()
        for opened in [*self._open.values()]:
            opened.game.close()

    def lobby(self) -> dict[str, Any]:
        """Unfinished and finished games, and the settings offered for a new one."""
        offered = self.offered
        return {
            "warm": self.warm,
            "resume": self._resumed,
            "agents": self._opponents,
            "levels": [{"name": level.name, "agent": level.agent, "says": level.says} for level in LEVELS],
            "offered": {
                "agent": offered.agent,
                "dealer": next(name for name, seat in DEALERS.items() if seat == offered.first_dealer),
                "scores": offered.scores,
                "seed": self._seed,
                "practice": offered.practice,
                "coach": offered.coach,
                "first": offered.agent == FIRST.agent,
            },
            "waiting": as_json.listed(self._folder),
            "finished": as_json.listed(self._folder / FINISHED),
        }

    def new(
        self,
        agent: str,
        dealer: Dealer,
        scores: tuple[Score, Score],
        seed: Seed | None,
        practice: bool,
        coach: Coaching,
    ) -> dict[str, Any]:
        """Begins a game."""
        if not self._others and agent not in (*self._opponents, *(level.agent for level in LEVELS)):
            raise ValueError(f"{agent!r} does not play on this page: choose a level or {', '.join(self._opponents)}")
        number = secrets.randbelow(2**32) if seed is None else seed
        return self._begin(GameSoFar(agent, number, DEALERS[dealer], scores, (), practice, coach))

    def pair(self, people: tuple[str, str]) -> dict[str, Any]:
        """Begins a game between two people at this machine."""
        names, seed = tuple(name.strip() for name in people), secrets.randbelow(2**32)
        # the agent is never asked
        return self._begin(GameSoFar("random", seed, None, (0, 0), (), coach="off", people=names))

    def take(self, game: str, at: int) -> dict[str, Any]:
        """The person whose turn it is takes the seat, and sees the hand."""
        with self._held(game, at) as opened:
            opened.seated = None if opened.game.is_over else opened.game.turn
            return self._settled(opened, at)

    def bring(self, line: str) -> dict[str, Any]:
        """Takes in a recorded game, a line or a link (:func:`imported`), to look through it; the same one once."""
        brought = imported(line)
        of = attrgetter("agent", "opponent", "deals", "cards")
        return self._kept_or_new(brought, lambda game: of(game) == of(brought))

    def today(self) -> dict[str, Any]:
        """Begins the deal of the day, or goes on with it (:func:`deal_of`)."""
        start = deal_of(date.today())
        return self._kept_or_new(start, lambda game: game.day == start.day and not game.practice)

    def rematch(self, game: str) -> dict[str, Any]:
        """Begins another game against the same agent; the loser of the last deals first."""
        with self._finished(game, "a rematch begins") as opened:
            last, loser = opened.game.so_far, int(opened.game.games["scores"][0].argmin())
        seed, coach = secrets.randbelow(2**32), "on" if last.day else last.coach
        practice = last.practice and not last.deals  # an imported game is one
        return self._begin(GameSoFar(last.agent, seed, loser, (0, 0), (), practice, coach, people=last.people))

    def delete(self, game: str) -> dict[str, Any]:
        """Deletes a game; what was recorded of a finished one stays."""
        with self._held(game) as opened:
            opened.game.delete()
            del self._open[game]
        return {}

    def look(self, game: str) -> dict[str, Any]:
        """The state of a game, from the person's last decision on."""
        with self._held(game) as opened:
            if opened.game.so_far.people and not opened.game.is_over:
                opened.seated = None  # whoever has opened it may be the other
                return self._settled(opened)
            return self._settled(opened, max(opened.game.decisions(), default=0))

    def play(self, game: str, at: int, cards: tuple[str, ...]) -> dict[str, Any]:
        """Plays the person's cards, and then the agent's until it is the person's turn."""
        with self._held(game, at) as opened:
            chosen = [parse_card(card) for card in cards]
            n = as_json.to_choose(opened.game, opened.looker.seat) if opened.looker.sees else 0
            if not n or len(chosen) != n or len({*chosen}) != n:
                raise ValueError(f"these {len(chosen)} cards are not allowed: name {n} different ones")
            return self._settled(opened, at, looker=opened.play(chosen))

    def back(self, game: str, at: int) -> dict[str, Any]:
        """Takes the last decision back."""
        with self._held(game, at) as opened:
            opened.back()
            return self._settled(opened)

    def again(self, game: str, at: int) -> dict[str, Any]:
        """Begins a practice game at a decision of a finished game, with the same deals."""
        with self._finished(game, "try again") as opened:
            _check_has_coach(opened)
            opened.game.view_at(at)
            so_far = opened.game.until(at, practice=True)
        return self._begin(so_far)

    def set(self, game: str, coach: Coaching) -> dict[str, Any]:
        """Changes when the coach speaks."""
        with self._held(game) as opened:
            _check_has_coach(opened)
            opened.game.set(coach)
            return self._settled(opened)

    def hint(self, game: str, at: int) -> dict[str, Any]:
        """What the coach would do now."""
        self._check_is_ready()
        with self._held(game, at) as opened:
            _check_has_coach(opened)
            cards, chance, why = opened.coach.hint()
            return {"cards": cards_as_text(cards), "chance": chance, "why": why.said, "figures": why.figures}

    def notes(self, game: str) -> dict[str, Any]:
        """The coach's comments so far, and the chance to win; empty until it is ready."""
        if not self._has_coach:
            return {"warm": False, "how": HOW, "notes": [], "line": []}
        with self._held(game) as opened:
            notes, line = [*map(note_as_json, opened.coach.notes())], opened.coach.line()
            return {"warm": True, "how": HOW, "notes": notes, "line": line}

    def review(self, game: str) -> dict[str, Any]:
        """A finished game: errors, luck, every moment; it counts in the person's progress from now on."""
        with self._finished(game, "look through it") as opened:
            so_far, coach = opened.game.so_far, opened.coach
            if so_far.counts:
                keep(self._folder, played_game(coach))
            is_day, level = bool(so_far.day), level_of(so_far.agent)
            rows = day_rows(coach, self._par(so_far.day)) if is_day else review_rows(coach.analysis(), level)
            return {
                "rows": [*rows],
                "costliest": [*map(note_as_json, coach.costliest())],
                "frames": as_json.whole_game(opened.game),
                "luck": [] if so_far.day else coach.analysis().luck[:, :, WINS].sum(axis=1).tolist(),
            }

    def progress(self) -> dict[str, Any]:
        """What the person's games say that have been looked through."""
        games = read_progress(self._folder)
        found, rows = rating(games), [*progress_rows(games)] if games else []
        return {"rows": rows, "rating": found and found._asdict(), "charts": charts(games)}

    def choices(self, game: str, at: int) -> dict[str, Any]:
        """All that the person could have done at a decision of a finished game, with its values."""
        with self._finished(game, "look through it") as opened:
            return choices_as_json(*opened.game.view_at(at), self._judge)

    def roll(self, game: str, at: int, on: bool) -> dict[str, Any]:
        """What is known of a rollout of a decision of a finished game, which begins, goes on, or stops if not ``on``.

        There is one at a time, and nothing is said of one that another has ended. The site has none.
        """
        from crib_env.evaluate.play.page.rolling import Rolling

        with self._finished(game, "roll out") as opened:
            decision, rolling = opened.game.view_at(at), self._rolling
            if rolling is None or rolling.of != (game, at):
                if not on:
                    return {}
                if rolling:
                    rolling.stop()
                rolling = self._rolling = Rolling((game, at), *decision)
            elif not on:
                rolling.stop()
                self._rolling = None
            return rolling.as_json()

    def lesson(self, theme: str) -> dict[str, Any]:
        """The positions of today, of a theme that are due, or of a rush that begins now, without their answers; and
        what has been answered."""
        if theme == RUSH:
            self._check_is_ready()  # the clock runs
            self._rush = Rush(self._folder, datetime.now())
        lesson = self._lesson(theme)
        given = {name: {"cards": answer.cards, "right": answer.is_right} for name, answer in lesson.given().items()}
        rows = [
            {
                "id": position.id,
                "title": position.title,
                "choose": position.n_cards,
                "frame": as_json.moment_of(position.games, ("you", "your opponent")),
                "given": given.get(position.id, False),
            }
            for position in lesson.positions
        ]
        return {"positions": rows, "due": lesson.due, "seconds": SECONDS if theme == RUSH else 0}

    def answer(self, theme: str, position: str, cards: tuple[str, ...]) -> dict[str, Any]:
        """What the coach says to an answer to a position of a lesson, by its id; all choices, and published answers.
        In a rush that has not ended, only whether it is right."""
        self._check_is_ready()
        lesson, chosen = self._lesson(theme), [parse_card(card) for card in cards]
        asked = lesson.position(position)
        note = lesson.judged(asked, chosen, self._judge)
        found = {"right": note.size == "best", "best": lesson.best()}
        if theme == RUSH and lesson.counts:
            return found
        return found | {
            "note": note_as_json(note),
            "choices": choices_as_json(asked.view(), chosen, self._judge),
            "published": [*asked.case.answers.items()] if asked.case else [],
        }

    def share(self, game: str) -> dict[str, Any]:
        """A finished game as a line that can be imported, and for a link; of the deal of a day a text."""
        with self._finished(game, "share it") as opened:
            if day := opened.game.so_far.day:
                return {"text": tell_day(opened.coach, self._par(day)), "line": "", "code": ""}
            record = opened.game.record()
            return {"text": "", "line": record.to_line(), "code": record.to_code()}

    def _lesson(self, theme: str) -> Lesson:
        if theme != RUSH:
            return Lesson(self._folder, date.today(), theme)
        if self._rush is None:
            raise ValueError("there is no rush: begin one")
        return self._rush

    def _kept_or_new(self, start: GameSoFar, is_it: Callable[[GameSoFar], bool]) -> dict[str, Any]:
        """The latest game of the folder that is the one asked for; a new one if there is none."""
        for file in latest_first(self._folder, self._folder / FINISHED):
            with suppress(ValueError):  # as in listed
                if is_it(read_game(file)):
                    return self.look(file.stem)
        return self._begin(start)

    def _begin(self, so_far: GameSoFar) -> dict[str, Any]:
        if is_outside_agent(so_far.agent) and so_far.agent != self.offered.agent:
            fault = f"agent {so_far.agent!r} is code of your own"
            raise ValueError(f"{fault}: name it on the command line to play against it")
        opened = Sitting(SavedGame.begin_in(so_far, self._folder), self._judge, self._record)
        self._open[opened.game.file.stem] = opened
        with self._lock:
            return self._settled(opened, len(so_far.cards))

    @property
    def _has_coach(self) -> bool:
        return self.warm in (REVIEWS, READY)

    def _check_is_ready(self) -> None:
        if not self._has_coach:
            raise ValueError("the coach is not ready yet: the first start can take a minute")

    @contextmanager
    def _held(self, name: str, at: int | None = None) -> Iterator[Sitting]:
        """A game, for this request alone; with ``at``, if the page shows its present state."""
        with self._lock:
            if name not in self._open:
                self._open[name] = self._opened(name)
            opened = self._open[name]
            if at not in (None, len(opened.game.played)):
                raise MovedOn("the game has moved on")
            yield opened

    @contextmanager
    def _finished(self, name: str, then: str) -> Iterator[Sitting]:
        with self._held(name) as opened:
            if not opened.game.is_over:
                raise ValueError(f"the game is not over: {then} when it is")
            yield opened

    def _opened(self, name: str) -> Sitting:
        files = [folder / f"{name}.json" for folder in (self._folder, self._folder / FINISHED)]
        file = next((file for file in files if as_json.GAME_ID.fullmatch(name) and file.is_file()), None)
        if file is None:
            raise ValueError(f"there is no game {name[:40]!r}")
        named = self.offered.agent  # by the user
        game = SavedGame.resume(file, named if read_game(file).agent == named else None)
        return Sitting(game, self._judge, self._record)

    @staticmethod
    def _settled(opened: Sitting, since: int | None = None, looker: Looker | None = None) -> dict[str, Any]:
        """The state of a game when it is the person's turn, or the game is over.

        The page has seen ``since`` cards played, by default all; ``looker`` saw the moments since then, by default the
        one who looks now.
        """
        since = len(opened.game.played) if since is None else since
        opened.settle()
        then = opened.looker
        return {"game": opened.game.file.stem, **as_json.state(opened.game, since, looker or then, then)}


def _check_has_coach(opened: Sitting) -> None:
    so_far = opened.game.so_far
    if so_far.people:
        raise ValueError("this is not for a game of two people")
    if so_far.day and not (so_far.practice or opened.game.is_over):
        raise ValueError("the coach says nothing in the deal of the day before its end")


def _fields(name: str) -> Any:
    """The fields of a message as a type."""
    kinds = get_type_hints(getattr(Games, name), include_extras=True)
    return NamedTuple(name, [(field, kind) for field, kind in kinds.items() if field != "return"])


MESSAGES = {name: _fields(name) for name in vars(Games) if name[0] != "_" and name != "close"}
"""What the page may ask, and the fields of each message."""


def answered(games: Games, name: str, content: str | bytes) -> tuple[int, str]:
    """The status of HTTP and the JSON of the answer to a message of ``MESSAGES``, whose fields are JSON too."""
    try:
        message = typed(parse_json(content), MESSAGES[name], "the message")
        return 200, json.dumps(getattr(games, name)(*message), separators=(",", ":"))
    except MovedOn as error:
        status, fault = 409, str(error)
    except ValueError as error:
        status, fault = 400, str(error)
    except OSError as error:
        status, fault = 507, f"the game cannot be kept: {error}"
    return status, json.dumps({"error": fault})
