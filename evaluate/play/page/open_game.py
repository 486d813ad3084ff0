"""A game that the page has opened, its coach, and the agent that thinks about a card."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import TypeVar

from crib_env.evaluate.play.coach import Coach
from crib_env.evaluate.play.page.views import Looker
from crib_env.evaluate.play.saved_game import AGENT, PERSON, SavedGame
from crib_env.evaluate.skill.analysis.judges import PlayJudge

_Made = TypeVar("_Made")
_BLINK = 0.05  # seconds after which a thinking agent notices that it is stopped


class OpenGame:
    """One of the games."""

    def __init__(self, game: SavedGame, judge: PlayJudge) -> None:
        self.lock, self.stop, self._judge = threading.Lock(), threading.Event(), judge
        self.seated: int | None = None
        """Of two people, the seat of the one who looks; None while nobody may see a hand."""
        self.show(game)

    def show(self, game: SavedGame) -> None:
        """Replaces the game, and its coach."""
        self.game, self.coach = game, Coach(game, self._judge)
        self._thought: Future[int] | None = None  # of the card that the agent is asked for

    @property
    def looker(self) -> Looker:
        """Who looks at the page; where nobody has taken the seat, the one whose turn it is, without seeing a hand."""
        if not self.game.so_far.people or self.game.is_over:
            return Looker(PERSON, True)
        return Looker(self.game.turn if self.seated is None else self.seated, self.seated is not None)

    def play(self, cards: Sequence[int]) -> Looker:
        """Plays cards of whoever is to act; who has seen it. Another person has to take the seat for the next ones.

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

    def let_agent_play(self) -> None:
        """Plays the agent's cards until it is the person's turn, or until it is stopped.

        A stopped agent goes on with the same thought when it is asked again.
        """
        self.stop.clear()
        if self.game.so_far.people:
            return
        while not self.game.is_over and self.game.turn == AGENT:
            self._thought = self._thought or in_thread(self.game.agents_card)
            while not wait((self._thought,), _BLINK).done:
                if self.stop.is_set():
                    return
            thought, self._thought = self._thought, None
            self.game.play(thought.result())


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
