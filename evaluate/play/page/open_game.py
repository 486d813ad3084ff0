"""A game that the page has opened, its coach, and the agent that thinks about a card."""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait

from crib_env.evaluate.play.coach import Coach
from crib_env.evaluate.play.saved_game import AGENT, SavedGame
from crib_env.evaluate.skill.analysis.judges import PlayJudge

_BLINK = 0.05  # seconds after which a thinking agent notices that it is stopped


class OpenGame:
    """One of the games.

    Args:
        game: the game.
        judge: the coach's.
    """

    def __init__(self, game: SavedGame, judge: PlayJudge) -> None:
        self.lock, self.stop, self._judge = threading.Lock(), threading.Event(), judge
        self.show(game)

    def show(self, game: SavedGame) -> None:
        """Replaces the game, and its coach."""
        self.game, self.coach = game, Coach(game, self._judge)
        self._thought: Future[int] | None = None  # of the card that the agent is asked for

    def let_agent_play(self) -> None:
        """Plays the agent's cards until it is the person's turn, or until it is stopped.

        A stopped agent goes on with the same thought when it is asked again.
        """
        self.stop.clear()
        while not self.game.is_over and self.game.turn == AGENT:
            self._thought = self._thought or _thinking(self.game)
            while not wait((self._thought,), _BLINK).done:
                if self.stop.is_set():
                    return
            thought, self._thought = self._thought, None
            self.game.play(thought.result())


def _thinking(game: SavedGame) -> Future[int]:
    """The agent's card, which it chooses in a thread that does not keep the process from ending."""
    thought: Future[int] = Future()

    def think() -> None:
        try:
            thought.set_result(game.agents_card())
        except BaseException as error:
            thought.set_exception(error)

    threading.Thread(target=think, daemon=True).start()
    return thought
