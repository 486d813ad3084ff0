"""A table for a language model over the Model Context Protocol: it plays against an agent by tools, and asks the coach.

The server speaks over its standard input and output, and listens nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

from crib_env import analyse_discard, decisions
from crib_env.cards import format_cards
from crib_env.engine import WIN
from crib_env.evaluate.play.coach import Coach
from crib_env.evaluate.play.saved_game import GameSoFar, SavedGame
from crib_env.evaluate.play.sitting import Sitting
from crib_env.evaluate.play.words import tell_deal
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.players.text import RULES, in_words, read_answer

_INSTRUCTIONS = f"Play two-player cribbage with these tools, and study it with the coach. The rules:\n{RULES}"
_Made = TypeVar("_Made")


class Discard(BaseModel):
    """A discard, and what it is worth."""

    cards: str
    points: float
    """Expected net points of the deal."""
    chance: float
    """To win the game at these scores."""


class Advice(BaseModel):
    """What the coach says."""

    cards: str
    """What it would choose now."""
    chance: float
    """To win the game then."""
    why: str
    comments: list[str]
    """On the decisions of the game so far that lost something."""


class Table:
    """The game that is being played, and its coach.

    Args:
        first: the first game; each further one has the next seed.
        folder: of games that are kept, as those of a person are.
        record: the file that finished games are added to.
        judge: of the play, for the coach.
    """

    def __init__(self, first: GameSoFar, folder: Path, record: Path, judge: PlayJudge) -> None:
        self._next, self._folder, self._record, self._judge = first, folder, record, judge
        self._sitting: Sitting | None = None
        self._lock = Lock()

    def server(self) -> MCPServer:
        """The server of all tools."""
        server = MCPServer("cribbage", instructions=_INSTRUCTIONS, log_level="WARNING")
        for tool in (self.deal, self.look, self.discard, self.lay, self.analyse_hand, self.ask_coach):
            server.add_tool(tool)
        return server

    def deal(self) -> str:
        """Begins a new game to 121; one that is not finished stays as it is. Returns what you see."""

        def begin() -> str:
            if self._sitting is not None:
                self._sitting.game.close()
            game = SavedGame.begin_in(self._next, self._folder)
            self._sitting = Sitting(game, self._judge, self._record)
            self._next = replace(self._next, seed=self._next.seed + 1)
            return "\n".join([tell_deal(game.games, game.names), self._go_on(self._sitting)])

        return self._alone(begin)

    def look(self) -> str:
        """Tells the position again. Returns what you see, and what you are asked."""
        return self._alone(lambda: self._go_on(self._playing()))

    def discard(self, a: str, b: str) -> str:
        """Discards two cards, such as 5H and TC, to the crib. Returns what follows, up to your next choice."""
        return self._alone(lambda: self._play(f"{a} {b}"))

    def lay(self, card: str) -> str:
        """Lays a card, such as 7D. Returns what follows, up to your next choice."""
        return self._alone(lambda: self._play(card))

    def analyse_hand(self, cards: str, is_dealer: bool, your_score: int = 0, opponent_score: int = 0) -> list[Discard]:
        """The fifteen discards of six cards, such as "5H 5C JD QS 2H 3D", the one that wins most games first."""

        def rows() -> list[Discard]:
            found = analyse_discard(cards, dealer=is_dealer, scores=(your_score, opponent_score))
            return [
                Discard(
                    cards=format_cards(row["discard"].tolist()),
                    points=float(row["total"]),
                    chance=float(row["win_probability"]),
                )
                for row in found
            ]

        return self._alone(rows)

    def ask_coach(self) -> Advice:
        """What the coach would choose now and why, and what your decisions so far have lost."""

        def advice() -> Advice:
            coach = self._playing().coach
            hint = coach.hint()
            return Advice(
                cards=format_cards(hint.cards), chance=hint.chance, why=str(hint.why), comments=_comments(coach)
            )

        return self._alone(advice)

    def _alone(self, do: Callable[[], _Made]) -> _Made:
        with self._lock:  # tools run in threads
            try:
                return do()
            except (ValueError, OSError) as error:
                raise ToolError(str(error)) from None

    def _playing(self) -> Sitting:
        if self._sitting is None:
            raise ValueError("there is no game: deal first")
        return self._sitting

    def _play(self, answer: str) -> str:
        sitting = self._playing()
        if sitting.game.is_over:
            raise ValueError("the game is over: deal for another one")
        sitting.play(read_answer(answer, next(decisions(sitting.game.view()))))
        return self._go_on(sitting)

    @staticmethod
    def _go_on(sitting: Sitting) -> str:
        """Plays for the agent until the model is asked or the game ends; what has happened, and what it sees."""
        game = sitting.game
        sitting.settle()
        told = [line for moment in sitting.news() for line in moment.said]
        if not game.is_over:
            return "\n".join([*told, in_words(next(decisions(game.view())))])
        told += [f"coach: {comment}" for comment in _comments(sitting.coach)]
        own, other = game.games["scores"][0].tolist()
        return "\n".join([*told, f"It is over: you {'win' if own == WIN else 'lose'} {own} to {other}."])


def _comments(coach: Coach) -> list[str]:
    return [f"deal {note.deal}: {note.text} {note.why or ''}".rstrip() for note in coach.costliest()]
