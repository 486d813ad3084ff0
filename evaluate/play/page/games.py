"""The games of the page, and its messages: each game is one file, opened at its first request."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

from crib_env import parse_card
from crib_env.agents.registry import is_outside_agent
from crib_env.evaluate.matches.muggins import HIGHEST
from crib_env.evaluate.play.coach import HOW, review_rows
from crib_env.evaluate.play.given_deals import day_rows, deal_of, imported, par_of, tell_day
from crib_env.evaluate.play.lesson import RUSH, SECONDS, Lesson, Rush
from crib_env.evaluate.play.levels import FIRST, LEVELS, level_of
from crib_env.evaluate.play.page.as_json import (
    GAME_ID,
    cards_as_text,
    choices_as_json,
    latest_first,
    level_row,
    listed,
    moment_of,
    note_as_json,
    state,
    to_choose,
    whole_game,
)
from crib_env.evaluate.play.progress import charts, keep, played_game, progress_rows, rating, read_progress
from crib_env.evaluate.play.saved_game import (
    DEALERS,
    FINISHED,
    Coaching,
    Counting,
    Dealer,
    GameSoFar,
    SavedGame,
    Score,
    read_game,
)
from crib_env.evaluate.play.sitting import Looker, Sitting, in_thread
from crib_env.evaluate.play.words import tell_count, tell_game
from crib_env.evaluate.skill.analysis.judges import PlayJudge, play_judge
from crib_env.evaluate.skill.luck.variates import WINS
from crib_env.files.json_text import parse_json
from crib_env.values import Range, Seed, typed

OFFERED = ("best", "expert", "halscrib", "careful", "heuristic", "greedy", "minimax", "ismcts", "random")
"""Agents that the page lists beside the levels; any other may be named."""
_SILENT = "random"  # the agent in the file of a game of two people; it is never asked


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
        self._open: dict[str, Future[Sitting]] = {}
        self._rush: Rush | None = None  # the last one
        self._pars: dict[str, tuple[int, int]] = {}  # by day
        self._rolls: tuple[Any, Any] = None, None  # the decision that is rolled out, and its rollout
        self._lock = threading.Lock()
        self.warm = COLD

    def close(self) -> None:
        """Lets other processes open the games, and stops a rollout."""
        if self._rolls[1]:
            self._rolls[1].stop()
        with self._lock:
            for opening in self._open.values():
                if opening.done() and not opening.exception():
                    opening.result().game.close()

    def lobby(self) -> dict[str, Any]:
        """Unfinished and finished games, and the settings offered for a new one."""
        offered = self.offered
        return {
            "warm": self.warm._asdict(),
            "resume": self._resumed,
            "agents": self._opponents,
            "levels": [level_row(level) for level in LEVELS],
            "offered": {
                "agent": offered.agent,
                "dealer": next(name for name, seat in DEALERS.items() if seat == offered.first_dealer),
                "scores": offered.scores,
                "seed": self._seed,
                "practice": offered.practice,
                "coach": offered.coach,
                "counting": offered.counting,
                "first": offered.agent == FIRST.agent,
            },
            "waiting": listed(self._folder),
            "finished": listed(self._folder / FINISHED),
        }

    def new(
        self,
        agent: str,
        dealer: Dealer,
        scores: tuple[Score, Score],
        seed: Seed | None,
        practice: bool,
        coach: Coaching,
        counting: Counting,
    ) -> dict[str, Any]:
        """Begins a game."""
        if not self._others and agent not in (*self._opponents, *(level.agent for level in LEVELS)):
            raise ValueError(f"{agent!r} does not play on this page: choose a level or {', '.join(self._opponents)}")
        number = secrets.randbelow(2**32) if seed is None else seed
        return self._begin(GameSoFar(agent, number, DEALERS[dealer], scores, (), practice, coach, counting))

    def pair(self, people: tuple[str, str]) -> dict[str, Any]:
        """Begins a game between two people at this machine."""
        seed = secrets.randbelow(2**32)
        names = tuple(name.strip() for name in people)
        return self._begin(GameSoFar(_SILENT, seed, None, (0, 0), (), coach="off", people=names))

    def take(self, game: str, at: int) -> dict[str, Any]:
        """The person whose turn it is takes the seat, and sees the hand."""
        with self._held(game, at) as opened:
            opened.seated = None if opened.game.is_over else opened.game.turn
            return self._settled(opened, at)

    def bring(self, line: str) -> dict[str, Any]:
        """Takes in a recorded game, a line or a link (:func:`imported`), to look through it; the same one once."""
        brought = imported(line)

        def of(game: GameSoFar) -> tuple[object, ...]:
            return game.agent, game.opponent, game.deals, game.cards

        kept = self._kept(lambda game: of(game) == of(brought))
        return self.look(kept) if kept else self._begin(brought)

    def today(self) -> dict[str, Any]:
        """Begins the deal of the day, or goes on with it (:func:`deal_of`)."""
        start = deal_of(date.today())
        kept = self._kept(lambda game: game.day == start.day and not game.practice)
        return self.look(kept) if kept else self._begin(start)

    def rematch(self, game: str) -> dict[str, Any]:
        """Begins another game against the same agent; the loser of the last deals first."""
        with self._finished(game, "a rematch begins") as opened:
            loser = int(opened.game.games["scores"][0].argmin())
            is_practice = opened.game.so_far.practice and not opened.game.so_far.deals  # those of an imported game go
            changes = {"first_dealer": loser, "scores": (0, 0), "deals": (), "opponent": "", "practice": is_practice}
            if opened.game.so_far.day:  # a whole game follows, with the coach
                changes |= {"day": "", "coach": "on"}
            so_far = opened.game.until(0, seed=secrets.randbelow(2**32), **changes)
        return self._begin(so_far)

    def delete(self, game: str) -> dict[str, Any]:
        """Deletes a game; what was recorded of a finished one stays."""
        with self._held(game) as opened:
            opened.game.delete()
            with self._lock:
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
            n = to_choose(opened.game, opened.looker.seat) if opened.looker.sees else 0
            if not n or len(chosen) != n:
                raise ValueError(f"{len(chosen)} cards are not allowed: name {n}")
            if len(set(chosen)) < len(chosen):
                raise ValueError(f"{cards[0]} is named twice")
            return self._settled(opened, at, looker=opened.play(chosen))

    def count(self, game: str, at: int, counted: int, points: Annotated[int, Range(0, HIGHEST)]) -> dict[str, Any]:
        """What the person says to the hand that is counted next; then what follows.

        Args:
            game, at: see :class:`Games`.
            counted: how many hands of this show the page has seen counted.
            points: of the person's own hand; or those that it claims of the other's, 0 for none.
        """
        with self._held(game, at) as opened:
            if opened.game.show is None or opened.game.show.counted != counted:
                raise MovedOn("the game has moved on")
            place, told = opened.game.place, tell_count(opened.game.count(points), opened.game.names)
            return {**self._settled(opened, *place), "told": told}

    def back(self, game: str, at: int) -> dict[str, Any]:
        """Takes the last decision back."""
        with self._held(game, at) as opened:
            opened.back()
            return self._settled(opened)

    def again(self, game: str, at: int) -> dict[str, Any]:
        """Begins a practice game at a decision of a finished game. Its deals are the same, and show all cards."""
        with self._finished(game, "try again") as opened:
            _check_has_coach(opened)
            opened.game.view_at(at)
            so_far = opened.game.until(at, practice=True)
        return self._begin(so_far)

    def set(self, game: str, coach: Coaching, counting: Counting) -> dict[str, Any]:
        """Changes the settings of the coach and of counting."""
        with self._held(game) as opened:
            _check_has_coach(opened)
            opened.game.set(coach, counting)
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
        found: dict[str, Any] = {"warm": self.warm.coach, "how": HOW, "notes": [], "line": []}
        if not self.warm.coach:
            return found
        with self._held(game) as opened:
            return found | {"notes": [*map(note_as_json, opened.coach.notes())], "line": opened.coach.line()}

    def review(self, game: str) -> dict[str, Any]:
        """A finished game: errors, luck, every moment; it counts in the person's progress from now on."""
        with self._finished(game, "look through it") as opened:
            so_far, coach = opened.game.so_far, opened.coach
            if so_far.counts:
                keep(self._folder, played_game(coach))
            if so_far.day:
                rows = [*day_rows(coach, self._par(so_far.day))]
            else:
                rows = [*review_rows(coach.analysis(), level_of(so_far.agent))]
            return {
                "rows": rows,
                "costliest": [*map(note_as_json, coach.costliest())],
                "frames": whole_game(opened.game),
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

        There is one rollout at a time, and nothing is said of one that another has ended. The site has none.
        """
        from crib_env.evaluate.play.page.rolling import Rolling

        with self._finished(game, "roll out") as opened:
            decision = opened.game.view_at(at)
        with self._lock:
            of, rolling = self._rolls
            if rolling and (of == (game, at)) != on:
                rolling.stop()
            if on and of != (game, at):
                rolling = Rolling(*decision)
            if on or of == (game, at):
                self._rolls = ((game, at) if on else None), rolling
                return rolling.as_json()
        return {}

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
                "frame": moment_of(position.games, ("you", "your opponent")),
                "given": given.get(position.id, False),
            }
            for position in lesson.positions
        ]
        return {"positions": rows, "due": lesson.due, "seconds": SECONDS if theme == RUSH else 0}

    def answer(self, theme: str, position: str, cards: tuple[str, ...]) -> dict[str, Any]:
        """What the coach says to an answer to a position of a lesson, by its id; all choices, and published answers.
        In a rush that has not ended, only whether it is right."""
        self._check_is_ready()
        lesson = self._lesson(theme)
        asked, chosen = lesson.position(position), [parse_card(card) for card in cards]
        note = lesson.judged(asked, chosen, self._judge)
        found = {"right": note.size == "best", "best": lesson.best()}
        if theme == RUSH and lesson.left > 0:
            return found
        return found | {
            "note": note_as_json(note),
            "choices": choices_as_json(asked.view(), chosen, self._judge),
            "published": [*asked.case.answers.items()] if asked.case else [],
        }

    def share(self, game: str) -> dict[str, Any]:
        """A finished game as text for people, as a line that can be imported, and for a link."""
        with self._finished(game, "share it") as opened:
            if day := opened.game.so_far.day:
                return {"text": tell_day(opened.coach, self._par(day)), "line": "", "code": ""}
            analysis = opened.coach.analysis()
            text, record = tell_game(opened.game, analysis), analysis.record
            return {"text": text, "line": record.to_line(), "code": record.to_code()}

    def _lesson(self, theme: str) -> Lesson:
        if theme != RUSH:
            return Lesson(self._folder, date.today(), theme)
        if self._rush is None:
            raise ValueError("there is no rush: begin one")
        return self._rush

    def _par(self, day: str) -> tuple[int, int]:
        if day not in self._pars:
            self._pars[day] = par_of(date.fromisoformat(day), self._judge)
        return self._pars[day]

    def _kept(self, is_it: Callable[[GameSoFar], bool]) -> str | None:
        """The id of the latest game of the folder that is the one asked for."""
        for file in latest_first(self._folder, self._folder / FINISHED):
            with suppress(ValueError):  # as in listed
                if is_it(read_game(file)):
                    return file.stem
        return None

    def _begin(self, so_far: GameSoFar) -> dict[str, Any]:
        if is_outside_agent(so_far.agent) and so_far.agent != self.offered.agent:
            fault = f"agent {so_far.agent!r} is code of your own"
            raise ValueError(f"{fault}: name it on the command line to play against it")
        game, opening = SavedGame.begin_in(so_far, self._folder), Future[Sitting]()
        opened = Sitting(game, self._judge, self._record)
        opening.set_result(opened)
        with self._lock:
            self._open[opened.game.file.stem] = opening
        with opened.lock:
            return self._settled(opened, len(so_far.cards))

    def _check_is_ready(self) -> None:
        if not self.warm.coach:
            raise ValueError("the coach is not ready yet: the first start can take a minute")

    @contextmanager
    def _held(self, name: str, at: int | None = None) -> Iterator[Sitting]:
        """A game, for this request alone; with ``at``, if the page shows its present state."""
        opened = self._opening(name).result()
        with opened.lock:
            if self._opening(name).result() is not opened:  # it was deleted meanwhile
                raise ValueError(f"there is no game {name!r}")
            if at not in (None, len(opened.game.played)):
                raise MovedOn("the game has moved on")
            yield opened

    @contextmanager
    def _finished(self, name: str, then: str) -> Iterator[Sitting]:
        with self._held(name) as opened:
            if not opened.game.is_over:
                raise ValueError(f"the game is not over: {then} when it is")
            yield opened

    def _opening(self, name: str) -> Future[Sitting]:
        """A game that is open, or will be; the others do not wait for it."""
        if not GAME_ID.fullmatch(name):
            raise ValueError(f"there is no game {name[:40]!r}")
        with self._lock:
            opening = self._open.get(name)
            if opening is None or (opening.done() and opening.exception()):
                files = [folder / f"{name}.json" for folder in (self._folder, self._folder / FINISHED)]
                file = next((file for file in files if file.is_file()), None)
                if file is None:
                    raise ValueError(f"there is no game {name!r}")
                opening = self._open[name] = in_thread(partial(self._resumed_game, file))
            return opening

    def _resumed_game(self, file: Path) -> Sitting:
        named = self.offered.agent  # by the user
        game = SavedGame.resume(file, named if read_game(file).agent == named else None)
        return Sitting(game, self._judge, self._record)

    @staticmethod
    def _settled(opened: Sitting, since: int | None = None, seen: int = 0, looker: Looker | None = None) -> Any:
        """The state of a game when it is the person's turn, or the game is over.

        Args:
            opened: the game.
            since: how many cards the page has seen played; by default all.
            seen: of the next card, how many stages.
            looker: who saw the moments since then; by default the one who looks now.
        """
        since = len(opened.game.played) if since is None else since
        opened.settle()
        then = opened.looker
        return {"game": opened.game.file.stem, **state(opened.game, (since, seen), looker or then, then)}


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


def answered(games: Games, name: str, content: str) -> tuple[int, str]:
    """The status of HTTP and the JSON of an answer.

    Args:
        games: they answer.
        name: of the message, one of ``MESSAGES``.
        content: JSON, the fields of the message.
    """
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
