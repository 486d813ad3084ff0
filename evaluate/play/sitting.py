"""A person at the table: the one loop of a game under the page and the terminal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple, TypeVar

from crib_env.evaluate.play.coach import Coach
from crib_env.evaluate.play.saved_game import AGENT, PERSON, SavedGame
from crib_env.evaluate.skill.analysis.judges import PlayJudge

_Made = TypeVar("_Made")


class Looker(NamedTuple):
    """Who looks at the table."""

    seat: int
    sees: bool
    """Whether the hand of this seat may be seen; not while the machine goes from one person to another."""
    is_alone: bool = True
    """Whether nobody else looks at this screen later: then the cards that this seat has discarded lie face up."""


class Sitting:
    """A game that a person has opened, and its coach.

    Args:
        game: the game.
        judge: of the play, for the coach.
        record: the file that the finished game is added to.
    """

    def __init__(self, game: SavedGame, judge: PlayJudge, record: Path) -> None:
        self.seated: int | None = None
        """Of two people, the seat of the one who looks; None while nobody may see a hand."""
        self._judge, self._record = judge, record
        self._open(game)

    def _open(self, game: SavedGame) -> None:
        self.game, self.coach = game, Coach(game, self._judge)

    @property
    def looker(self) -> Looker:
        """Who looks at the page; where nobody has taken the seat, the one whose turn it is, without seeing a hand."""
        if not self.game.so_far.people or self.game.is_over:
            return Looker(PERSON, True)
        return Looker(self.game.turn if self.seated is None else self.seated, self.seated is not None, False)

    def play(self, cards: Sequence[int]) -> Looker:
        """Plays cards of the player who is to act, and gives who has seen it. Another person takes the seat then.

        Raises:
            ValueError: a card is not legal; nothing has changed.
            OSError: the game cannot be kept.
        """
        game, before = self.game, self.looker
        for card in cards:
            game.check(card)
        deal = int(game.games["n_deals"][0])
        for card in cards:
            game.play(card)
        if self.seated is not None and (game.turn != self.seated or game.games["n_deals"][0] != deal):
            self.seated = None
        return before

    def back(self) -> None:
        """Takes the last decision back (:meth:`SavedGame.taken_back`)."""
        self._open(self.game.taken_back())

    def settle(self) -> None:
        """Plays the agent's cards until it is the person's turn; puts a finished game away.

        Raises:
            ValueError, OSError: a file cannot be written.
        """
        while not (self.game.is_over or self.game.so_far.people) and self.game.turn == AGENT:
            self.game.play(self.game.agents_card())
        if self.game.is_over:
            self.game.finish(self._record)


def in_thread(do: Callable[[], _Made]) -> Future[_Made]:
    """What ``do`` returns, in a thread that does not keep the process from ending."""
    made: Future[_Made] = Future()
    made.set_running_or_notify_cancel()  # nobody cancels it from now on

    def work() -> None:
        try:
            made.set_result(do())
        except BaseException as error:
            made.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return made
