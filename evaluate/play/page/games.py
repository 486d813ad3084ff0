"""The games of the page, and its messages: each game is one file, opened at its first request."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from crib_env import parse_card
from crib_env.agents.registry import is_outside_agent
from crib_env.evaluate.matches.muggins import HIGHEST
from crib_env.evaluate.play.coach import HOW
from crib_env.evaluate.play.imported import imported
from crib_env.evaluate.play.lesson import Lesson
from crib_env.evaluate.play.levels import FIRST, LEVELS
from crib_env.evaluate.play.page.lesson import answer_as_json, lesson_as_json
from crib_env.evaluate.play.page.listing import GAME_ID, level_row, listed
from crib_env.evaluate.play.page.messages import (
    Answer,
    At,
    Cards,
    Line,
    MovedOn,
    New,
    Nothing,
    OfGame,
    Pair,
    Said,
    Settings,
)
from crib_env.evaluate.play.page.open_game import OpenGame, in_thread
from crib_env.evaluate.play.page.review import choices_as_json, progress_as_json, review_as_json, share
from crib_env.evaluate.play.page.views import Looker, hint_as_json, notes_as_json, state, to_choose
from crib_env.evaluate.play.page.warming import COLD, warmed_up
from crib_env.evaluate.play.progress import keep, played_game, read_progress
from crib_env.evaluate.play.saved_game import DEALERS, FINISHED, GameSoFar, SavedGame, read_game
from crib_env.evaluate.play.words import tell_count
from crib_env.evaluate.skill.analysis.judges import play_judge

OFFERED = ("best", "expert", "halscrib", "careful", "heuristic", "greedy", "minimax", "ismcts", "random")
"""Agents that the page lists beside the levels; any other may be named."""
_JUDGE = play_judge()
_SILENT = "random"  # the agent in the file of a game of two people; it is never asked
_NOT_READY = "the coach is not ready yet: the first start can take a minute"


class Games:
    """All games of a folder. Each method but :meth:`warm_up` answers one kind of message.

    Args:
        folder: an existing folder for the games.
        record: the file that finished games are added to.
        offered: the new game that the page offers. Its agent is the only one that may come from the user's own code.
        resumed: id of the game to open first.
        seed: of the deals that the page offers; None for others in each game.
        opponents: agents that the page lists beside the levels.
    """

    def __init__(
        self,
        folder: Path,
        record: Path,
        offered: GameSoFar,
        resumed: str | None = None,
        seed: int | None = None,
        opponents: Sequence[str] = OFFERED,
    ) -> None:
        self._folder, self._record, self._offered = folder, record, offered
        self._resumed, self._seed, self._opponents = resumed, seed, opponents
        self._open: dict[str, Future[OpenGame]] = {}
        self._lock = threading.Lock()
        self.warm = COLD

    def warm_up(self) -> None:
        """Has all kernels compiled in the background, in the order in which they will be needed.

        Raises:
            ValueError: the offered agent cannot be made.
        """
        for warm in warmed_up(self._offered.agent, _JUDGE):
            self.warm = warm

    def close(self) -> None:
        """Lets other processes open the games."""
        with self._lock:
            for opening in self._open.values():
                if opening.done() and not opening.exception():
                    opening.result().game.close()

    def lobby(self, message: Nothing) -> dict[str, Any]:
        """Unfinished and finished games, and the settings offered for a new one."""
        offered = self._offered
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

    def new(self, message: New) -> dict[str, Any]:
        """Begins a game."""
        if message.dealer not in DEALERS:
            raise ValueError(f"dealer={message.dealer!r} is not allowed: choose of {', '.join(DEALERS)}")
        seed = secrets.randbelow(2**32) if message.seed is None else message.seed
        return self._begin(
            GameSoFar(
                message.agent,
                seed,
                DEALERS[message.dealer],
                message.scores,
                (),
                message.practice,
                message.coach,
                message.counting,
            )
        )

    def pair(self, message: Pair) -> dict[str, Any]:
        """Begins a game between two people at this machine."""
        seed = secrets.randbelow(2**32)
        people = tuple(name.strip() for name in message.people)
        return self._begin(GameSoFar(_SILENT, seed, None, (0, 0), (), coach="off", people=people))

    def take(self, message: At) -> dict[str, Any]:
        """The person whose turn it is takes the seat, and sees the hand."""
        with self._held(message.game) as opened:
            game = self._at(opened, message.at)
            opened.seated = None if game.is_over else game.turn
            return self._settled(message.game, opened, message.at)

    def bring(self, message: Line) -> dict[str, Any]:
        """Takes in a recorded game, to look through it."""
        return self._begin(imported(message.line))

    def rematch(self, message: OfGame) -> dict[str, Any]:
        """Begins another game against the same agent; the loser of the last deals first."""
        with self._held(message.game) as opened:
            self._over(opened, "a rematch begins")
            loser = int(opened.game.games["scores"][0].argmin())
            so_far = opened.game.until(0, seed=secrets.randbelow(2**32), first_dealer=loser, scores=(0, 0))
        return self._begin(so_far)

    def delete(self, message: OfGame) -> dict[str, Any]:
        """Deletes a game; what was recorded of a finished one stays."""
        with self._held(message.game) as opened:
            opened.game.delete()
            with self._lock:
                del self._open[message.game]
        return {}

    def stop(self, message: OfGame) -> dict[str, Any]:
        """Stops the agent, which thinks about its card in another request."""
        opening = self._opening(message.game)
        if opening.done():
            opening.result().stop.set()
        return {}

    def look(self, message: OfGame) -> dict[str, Any]:
        """The state of a game, from the person's last decision on."""
        with self._held(message.game) as opened:
            if opened.game.so_far.people and not opened.game.is_over:
                opened.seated = None  # whoever has opened it may be the other
                return self._settled(message.game, opened, len(opened.game.played))
            decisions = opened.game.decisions()
            return self._settled(message.game, opened, decisions[-1] if decisions else 0)

    def play(self, message: Cards) -> dict[str, Any]:
        """Plays the person's cards, and then the agent's until it is the person's turn."""
        with self._held(message.game) as opened:
            game = self._at(opened, message.at)
            cards = [parse_card(card) for card in message.cards]
            n = to_choose(game, opened.looker.seat) if opened.looker.sees else 0
            if game.is_over or len(cards) != n:
                raise ValueError(f"{len(cards)} cards are not allowed: name {n}")
            if len(set(cards)) < len(cards):
                raise ValueError(f"{message.cards[0]} is named twice")
            return self._settled(message.game, opened, message.at, opened.play(cards))

    def count(self, message: Said) -> dict[str, Any]:
        """What the person says to the hand that is counted next; then what follows."""
        if not 0 <= message.points <= HIGHEST:
            raise ValueError(f"points={message.points} is not allowed: a hand counts 0 to {HIGHEST}")
        with self._held(message.game) as opened:
            game = self._at(opened, message.at)
            if game.show is None or game.show.counted != message.counted:
                raise MovedOn("the game has moved on")
            n, told = len(game.show.stages), tell_count(game.count(message.points), game.names)
            state = self._settled(message.game, opened, message.at - 1)
            return {**state, "told": told, "frames": state["frames"][n:]}

    def back(self, message: At) -> dict[str, Any]:
        """Takes the last decision back."""
        with self._held(message.game) as opened:
            opened.show(self._at(opened, message.at).taken_back())
            return self._settled(message.game, opened, len(opened.game.played))

    def again(self, message: At) -> dict[str, Any]:
        """Begins a practice game at a decision of a finished game. Its deals are the same, and show all cards."""
        with self._held(message.game) as opened:
            self._over(opened, "try again")
            self._against_agent(opened)
            if message.at not in opened.game.decisions():
                raise ValueError(f"at={message.at} is not allowed: it was no decision of yours")
            so_far = opened.game.until(message.at, practice=True)
        return self._begin(so_far)

    def set(self, message: Settings) -> dict[str, Any]:
        """Changes the settings of the coach and of counting."""
        with self._held(message.game) as opened:
            self._against_agent(opened)
            opened.game.set(message.coach, message.counting)
            return self._settled(message.game, opened, len(opened.game.played))

    def hint(self, message: At) -> dict[str, Any]:
        """What the coach would do now."""
        if not self.warm.coach:
            raise ValueError(_NOT_READY)
        with self._held(message.game) as opened:
            self._at(opened, message.at)
            self._against_agent(opened)
            return hint_as_json(opened.coach.hint())

    def notes(self, message: OfGame) -> dict[str, Any]:
        """The coach's comments so far, and the chance to win; empty until its kernels are compiled."""
        if not self.warm.coach:
            return {"warm": False, "how": HOW, "notes": [], "line": []}
        with self._held(message.game) as opened:
            return {"warm": True, "how": HOW, **notes_as_json(opened.coach)}

    def review(self, message: OfGame) -> dict[str, Any]:
        """A finished game: errors, luck, every moment; it counts in the person's progress from now on."""
        with self._held(message.game) as opened:
            coach = self._over(opened, "look through it").coach
            if not (opened.game.so_far.practice or opened.game.so_far.people):
                keep(self._folder, played_game(coach))
            return review_as_json(coach)

    def progress(self, message: Nothing) -> dict[str, Any]:
        """What the person's games say that have been looked through."""
        return progress_as_json(read_progress(self._folder))

    def choices(self, message: At) -> dict[str, Any]:
        """All that the person could have done at a decision of a finished game, with its values."""
        with self._held(message.game) as opened:
            return choices_as_json(*self._over(opened, "look through it").game.view_at(message.at), _JUDGE)

    def lesson(self, message: Nothing) -> dict[str, Any]:
        """The positions of today, and what has been answered."""
        return lesson_as_json(Lesson(self._folder, date.today()))

    def answer(self, message: Answer) -> dict[str, Any]:
        """What the coach says to an answer to a position of today."""
        if not self.warm.coach:
            raise ValueError(_NOT_READY)
        lesson = Lesson(self._folder, date.today())
        cards = [parse_card(card) for card in message.cards]
        return answer_as_json(lesson, lesson.position(message.position), cards, _JUDGE)

    def share(self, message: OfGame) -> dict[str, Any]:
        """A finished game as text for people, and as a line that can be imported."""
        with self._held(message.game) as opened:
            return share(self._over(opened, "share it").coach)

    def _begin(self, so_far: GameSoFar) -> dict[str, Any]:
        self._check_agent(so_far.agent)
        opened = OpenGame(SavedGame.begin_in(so_far, self._folder), _JUDGE)
        name, opening = opened.game.file.stem, Future[OpenGame]()
        opening.set_result(opened)
        with self._lock:
            self._open[name] = opening
        with opened.lock:
            return self._settled(name, opened, len(so_far.cards))

    def _check_agent(self, agent: str) -> None:
        if is_outside_agent(agent) and agent != self._offered.agent:
            raise ValueError(f"agent {agent!r} is code of your own: name it on the command line to play against it")

    @contextmanager
    def _held(self, name: str) -> Iterator[OpenGame]:
        """A game, for this request alone."""
        opened = self._opening(name).result()
        with opened.lock:
            if self._opening(name).result() is not opened:  # it was deleted meanwhile
                raise ValueError(f"there is no game {name!r}")
            yield opened

    def _opening(self, name: str) -> Future[OpenGame]:
        """A game that is open, or will be; the others do not wait for it."""
        if not GAME_ID.fullmatch(name):
            raise ValueError(f"there is no game {name[:40]!r}")
        with self._lock:
            opening = self._open.get(name)
            if opening is None or (opening.done() and opening.exception()):
                folders = (self._folder, self._folder / FINISHED)
                file = next(
                    (folder / f"{name}.json" for folder in folders if (folder / f"{name}.json").is_file()), None
                )
                if file is None:
                    raise ValueError(f"there is no game {name!r}")
                opening = self._open[name] = in_thread(partial(self._resumed_game, file))
            return opening

    def _resumed_game(self, file: Path) -> OpenGame:
        named = self._offered.agent  # by the user
        return OpenGame(SavedGame.resume(file, named if read_game(file).agent == named else None), _JUDGE)

    @staticmethod
    def _over(opened: OpenGame, then: str) -> OpenGame:
        """A game, if it is finished."""
        if not opened.game.is_over:
            raise ValueError(f"the game is not over: {then} when it is")
        return opened

    @staticmethod
    def _against_agent(opened: OpenGame) -> None:
        if opened.game.so_far.people:
            raise ValueError("this is not for a game of two people")

    @staticmethod
    def _at(opened: OpenGame, at: int) -> SavedGame:
        """The game, if the page shows its present state."""
        if at != len(opened.game.played):
            raise MovedOn("the game has moved on")
        return opened.game

    def _settled(self, name: str, opened: OpenGame, since: int, looker: Looker | None = None) -> dict[str, Any]:
        """Plays the agent's cards until it is the person's turn, and files a finished game; the state since a card, as
        a looker saw it come, by default the one who looks now."""
        opened.let_agent_play()
        game = opened.game
        if game.is_over:
            game.finish(self._record)
        then = opened.looker
        return {"game": name, **state(game, since, looker or then, then)}
