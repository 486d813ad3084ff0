"""A table for a language model over the Model Context Protocol: it plays against an agent by tools, and asks the coach.

The server speaks over its standard input and output, and listens nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from threading import Lock

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from crib_env import analyse_discard, decisions
from crib_env.cards import format_cards
from crib_env.evaluate.play.saved_game import GameSoFar, SavedGame
from crib_env.evaluate.play.sitting import Sitting, told
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.players.text import RULES, in_words, read_answer

_INSTRUCTIONS = f"Play two-player cribbage with these tools, and study it with the coach. The rules:\n{RULES}"


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
        for tool in (self.deal, self.play, self.analyse_hand, self.ask_coach):
            server.add_tool(self._alone(tool))
        return server

    def _alone(self, tool: Callable[..., str]) -> Callable[..., str]:
        @wraps(tool)
        def alone(**given: object) -> str:
            with self._lock:  # tools run in threads
                try:
                    return tool(**given)
                except (ValueError, OSError) as error:
                    raise ToolError(str(error)) from None

        return alone

    def deal(self) -> str:
        """Begins a new game to 121; one that is not finished stays as it is. Returns what you see."""
        if self._sitting is not None:
            self._sitting.game.close()
        self._sitting = Sitting(SavedGame.begin_in(self._next, self._folder), self._judge, self._record)
        self._next = replace(self._next, seed=self._next.seed + 1)
        return self._go_on(self._sitting)

    def play(self, cards: str) -> str:
        """Discards two cards, such as "5H TC", or lays one, such as "7D". Returns what follows, up to your next
        choice."""
        sitting = self._playing()
        if sitting.game.is_over:
            raise ValueError("the game is over: deal for another one")
        sitting.play(read_answer(cards, next(decisions(sitting.game.view()))))
        return self._go_on(sitting)

    def analyse_hand(self, cards: str, is_dealer: bool, your_score: int = 0, opponent_score: int = 0) -> str:
        """The fifteen discards of six cards, such as "5H 5C JD QS 2H 3D", the one that wins most games first; each with
        its expected net points of the deal and the chance to win at these scores."""
        found = analyse_discard(cards, dealer=is_dealer, scores=(your_score, opponent_score))
        return "\n".join(
            f"{format_cards(row['discard'].tolist())}: {row['total']:+.4f} points, {row['win_probability']:.4f} to win"
            for row in found
        )

    def ask_coach(self) -> str:
        """What the coach would choose now and why, and what your decisions so far have lost."""
        coach = self._playing().coach
        hint = coach.hint()
        advice = f"{format_cards(hint.cards)}, {100 * hint.chance:.1f} % to win. {hint.why}"
        return "\n".join([advice, *(f"deal {note.deal}: {told(note)}" for note in coach.costliest())])

    def _playing(self) -> Sitting:
        if self._sitting is None:
            raise ValueError("there is no game: deal first")
        return self._sitting

    @staticmethod
    def _go_on(sitting: Sitting) -> str:
        said, game = sitting.go_on(), sitting.game
        if not game.is_over:
            return "\n".join([*said, in_words(next(decisions(game.view())))])
        return "\n".join([*said, *(f"coach: deal {note.deal}: {told(note)}" for note in sitting.coach.costliest())])
