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
from crib_env.evaluate.play.saved_game import AGENT, GameSoFar, SavedGame
from crib_env.evaluate.play.words import tell_card, tell_deal, tell_show
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.text.answer import read_answer
from crib_env.text.position import in_words
from crib_env.text.rules import RULES

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
        self._game: SavedGame | None = None
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
            if self._game is not None:
                self._game.close()
            self._game = SavedGame.begin_in(self._next, self._folder)
            self._coach = Coach(self._game, self._judge)
            self._next = replace(self._next, seed=self._next.seed + 1)
            return self._go_on(self._game, [tell_deal(self._game.games, self._game.names)])

        return self._alone(begin)

    def look(self) -> str:
        """Tells the position again. Returns what you see, and what you are asked."""
        return self._alone(lambda: self._go_on(self._playing(), []))

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
            self._playing()
            hint = self._coach.hint()
            comments = [f"deal {note.deal}: {note.text} {note.why}".rstrip() for note in self._coach.costliest()]
            return Advice(cards=format_cards(hint.cards), chance=hint.chance, why=hint.why, comments=comments)

        return self._alone(advice)

    def _alone(self, do: Callable[[], _Made]) -> _Made:
        with self._lock:  # tools run in threads
            try:
                return do()
            except (ValueError, OSError) as error:
                raise ToolError(str(error)) from None

    def _playing(self) -> SavedGame:
        if self._game is None:
            raise ValueError("there is no game: deal first")
        return self._game

    def _play(self, answer: str) -> str:
        game = self._playing()
        if game.is_over:
            raise ValueError("the game is over: deal for another one")
        told: list[str] = []
        for card in read_answer(answer, next(decisions(game.view()))):
            told += self._played(game, card)
        return self._go_on(game, told)

    def _go_on(self, game: SavedGame, told: list[str]) -> str:
        """Plays for the agent until the model is asked or the game ends; what has happened, and what it sees."""
        while not game.is_over and game.turn == AGENT:
            told += self._played(game, game.agents_card())
        if game.is_over:
            told += [f"coach: deal {note.deal}: {note.text} {note.why}".rstrip() for note in self._coach.costliest()]
            game.finish(self._record)
        return "\n".join([*told, self._seen(game)])

    def _played(self, game: SavedGame, card: int) -> list[str]:
        deal = int(game.games["n_deals"][0])
        first, *show = game.play(card)
        told = list(tell_card(game.played[-1], first, game.names))
        told += tell_show(show, game.names)
        if not game.is_over and int(game.games["n_deals"][0]) != deal:
            told.append(tell_deal(game.games, game.names))
        return told

    def _seen(self, game: SavedGame) -> str:
        if not game.is_over:
            return in_words(next(decisions(game.view())))
        own, other = game.games["scores"][0].tolist()
        return f"It is over: you {'win' if own == WIN else 'lose'} {own} to {other}."
