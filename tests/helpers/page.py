"""The server of the page in this process, and messages to it as the page sends them."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from crib_env.evaluate.play.page.games import READY, Games
from crib_env.evaluate.play.page.server import listening
from crib_env.evaluate.play.saved_game import GameSoFar


class Page(NamedTuple):
    """A server that runs, in this process or another."""

    games: Games | None
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

    def new(self, agent: str = "greedy", **changes):
        """A message for a new game; status and content of the answer."""
        settings = {"dealer": "cut", "scores": [0, 0], "seed": 1, "practice": False, "coach": "on"}
        return self.ask("new", **{"agent": agent, **settings, **changes})

    def begin(self, agent: str = "greedy", **changes):
        """The state of a new game."""
        status, state = self.new(agent, **changes)
        assert status == 200, state
        return state

    def play_on(self, state, n: int = 10_000, last: bool = False):
        """Plays so many messages, or to the end, of the first legal cards or the last ones; all states on the way."""
        states = [state]
        while not states[-1]["over"] and len(states) <= n:
            now = states[-1]
            legal, choose = now["frames"][-1]["sides"][0]["legal"], now["choose"]
            cards = legal[-choose:] if last else legal[:choose]
            status, state = self.ask("play", game=now["game"], at=now["at"], cards=cards)
            assert status == 200, state
            states.append(state)
        return states

    def do(self, name: str, state, **more):
        """The answer to a message about the present moment of a game."""
        status, found = self.ask(name, game=state["game"], at=state["at"], **more)
        assert status == 200, found
        return found

    def kept(self, state):
        """The game of a state as the server holds it."""
        return self.games._open[state["game"]].game


@contextmanager
def served(games: Games) -> Iterator[str]:
    """Serves the page from a thread while the block runs; yields its address."""
    with listening(games) as (server, listens, address):
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listens]}, daemon=True)
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join()
            games.close()


@contextmanager
def served_page(folder: Path, agent: str = "greedy") -> Iterator[Page]:
    """A server for the games of a folder."""
    folder.mkdir(exist_ok=True)
    games = Games(folder, folder / "games.jsonl", GameSoFar(agent, 0, None, (0, 0), ()))
    games.warm = READY  # kernels are compiled as they are needed
    with served(games) as url:
        yield Page(games, url)
