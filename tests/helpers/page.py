"""The server of the page in this process, and messages to it as the page sends them."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from crib_env.evaluate.play.page.games import Games
from crib_env.evaluate.play.page.server import served
from crib_env.evaluate.play.page.warming import READY
from crib_env.evaluate.play.saved_game import GameSoFar


class Page(NamedTuple):
    """A server that runs."""

    games: Games
    url: str

    @property
    def origin(self) -> str:
        return self.url.rsplit("/", 2)[0]

    @property
    def token(self) -> str:
        return self.url.rsplit("/", 2)[1]

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None):
        """A request as it is; status, headers and body of its answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def ask(self, name: str, **message):
        """A message of the page; status and content of the answer."""
        body = json.dumps(message).encode()
        status, _, answer = self.send("POST", f"/{self.token}/do/{name}", body, {"Origin": self.origin})
        return status, json.loads(answer)

    def begin(self, agent: str = "greedy", **changes):
        """A new game."""
        message = {
            "agent": agent,
            "dealer": "cut",
            "scores": [0, 0],
            "seed": 1,
            "practice": False,
            "coach": "on",
            "counting": "table",
        }
        status, state = self.ask("new", **{**message, **changes})
        assert status == 200, state
        return state


@contextmanager
def served_page(folder: Path, agent: str = "greedy") -> Iterator[Page]:
    """A server for the games of a folder."""
    folder.mkdir(exist_ok=True)
    games = Games(folder, folder / "games.jsonl", GameSoFar(agent, 0, None, (0, 0), ()))
    games.warm = READY  # kernels are compiled as they are needed
    with served(games) as url:
        yield Page(games, url)
