"""The server of the page in this process, and messages to it as the page sends them."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn

from evaluate.play.kept_game import GameSoFar
from evaluate.play.page.games import Games
from evaluate.play.page.server import make_app

TOKEN = "token-of-the-tests"


class Page(NamedTuple):
    """A server that runs."""

    games: Games
    port: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/{TOKEN}/"

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
        status, _, answer = self.send("POST", f"/{TOKEN}/do/{name}", body, {"Origin": self.origin})
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
            "counts": False,
        }
        status, state = self.ask("new", **{**message, **changes})
        assert status == 200, state
        return state


@contextmanager
def served(folder: Path, agent: str = "greedy") -> Iterator[Page]:
    """A server for the games of a folder."""
    folder.mkdir(exist_ok=True)
    games = Games(folder, folder / "games.jsonl", GameSoFar(agent, 0, None, (0, 0), ()))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        page = Page(games, listening.getsockname()[1])
        config = uvicorn.Config(make_app(games, TOKEN, page.origin), log_level="warning", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield page
        finally:
            server.should_exit = True
            thread.join(10)
