"""A table for a language model over the Model Context Protocol: it plays an episode by tools, and asks the coach.

The server speaks over its standard input and output, and listens nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import count
from threading import Lock

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from crib_env.cards import format_cards
from crib_env.evaluate.language.episode import Episode
from crib_env.players.text import RULES, read_answer

_INSTRUCTIONS = f"Play two-player cribbage with these tools, and study it with the coach. The rules:\n{RULES}"


class Table:
    """The game that is being played.

    Args:
        opponent: an agent's name.
        seed: of the first game; each further one has the next.
    """

    def __init__(self, opponent: str, seed: int) -> None:
        self._opponent, self._seeds, self._lock = opponent, count(seed), Lock()
        self._episode: Episode | None = None

    def server(self) -> MCPServer:
        """The server of all tools."""
        server = MCPServer("cribbage", instructions=_INSTRUCTIONS, log_level="WARNING")
        for tool in (self.deal, self.play, self.ask_coach):
            server.add_tool(self._alone(tool))
        return server

    def _alone(self, tool: Callable[..., str]) -> Callable[..., str]:
        @wraps(tool)
        def alone(**given: object) -> str:
            with self._lock:  # tools run in threads
                try:
                    return tool(**given)
                except ValueError as error:
                    raise ToolError(str(error)) from None

        return alone

    def deal(self) -> str:
        """Begins a new game to 121. Returns what you see."""
        self._episode = Episode("game", next(self._seeds), self._opponent)
        return self._episode.words()

    def play(self, cards: str) -> str:
        """Discards two cards, such as "5H TC", or lays one, such as "7D". Returns what you see at your next choice."""
        episode = self._playing()
        read_answer(cards, episode.view)
        return episode.answer(cards)

    def ask_coach(self) -> str:
        """What each choice that you have now loses, in chance to win the game, the best first; and what those that you
        have made have lost."""
        episode = self._playing()
        now = sorted(episode.losses(), key=lambda choice: choice.loss)
        lost = [choice for choice in episode.choices if choice.loss > 0]
        told = [f"{format_cards(choice.cards)} loses {100 * choice.loss:.2f} %" for choice in (*now, *lost)]
        return "\n".join([*told[: len(now)], "So far:", *told[len(now) :]])

    def _playing(self) -> Episode:
        if self._episode is None or self._episode.is_over:
            raise ValueError("there is no game: deal first")
        return self._episode
