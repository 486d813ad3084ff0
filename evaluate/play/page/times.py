"""How soon the page is ready after its command, and how fast its server answers in whole games."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from crib_env.evaluate.play.page.games import Games
from crib_env.evaluate.play.page.server import page_files, served
from crib_env.evaluate.play.saved_game import GameSoFar


class ReplyTimes(NamedTuple):
    """Times in seconds, from a request to the last byte of its answer."""

    plays: np.ndarray
    """(N,) of the person's cards: the engine, the agent's cards, and the game kept on the disk."""
    notes: np.ndarray
    """(N,) of the coach, after each."""
    hints: np.ndarray
    """(N,) of the coach, before each."""


def measure_replies(agent: str, games: int, seed: int, on_progress: Callable[[], None]) -> ReplyTimes:
    """Plays whole games over HTTP, as a person who takes the coach's hints.

    Args:
        agent: the opponent.
        games: how many; their seeds follow ``seed``.
        seed: of the first game's deals.
        on_progress: called after each game.

    Raises:
        ValueError: the agent cannot be made.
    """
    times: dict[str, list[float]] = {"play": [], "notes": [], "hint": []}
    with tempfile.TemporaryDirectory() as folder:
        answers = Games(Path(folder), Path(folder) / "games.jsonl", GameSoFar(agent, seed, None, (0, 0), ()))
        answers.warm_up()
        with served(answers) as address:
            link = PageLink(address)

            def ask(name: str, **message: Any) -> dict[str, Any]:
                before = time.perf_counter()
                found = link.ask(name, message)
                times.get(name, []).append(time.perf_counter() - before)
                return found

            form = {
                "agent": agent,
                "dealer": "cut",
                "scores": [0, 0],
                "practice": False,
                "coach": "on",
                "counting": "table",
            }
            for game in range(games):
                state = ask("new", seed=seed + game, **form)
                while not state["over"]:
                    at = {"game": state["game"], "at": state["at"]}
                    cards = ask("hint", **at)["cards"]
                    state = ask("play", **at, cards=cards[: state["choose"]])
                    ask("notes", game=state["game"])
                on_progress()
    return ReplyTimes(*(np.array(times[name]) for name in ("play", "notes", "hint")))


class PageLink:
    """A connection that stays, as a browser's does."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=600)
        self._path, self._headers = parts.path, {"Origin": f"http://{parts.netloc}", "Host": parts.netloc}

    def get(self, name: str) -> bytes:
        """A file of the page."""
        return self._answer("GET", name, None, {})

    def ask(self, name: str, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a message.

        Raises:
            ValueError: the server has refused it.
        """
        found: dict[str, Any] = json.loads(self._answer("POST", f"do/{name}", json.dumps(message), self._headers))
        if "error" in found:
            raise ValueError(found["error"])
        return found

    def _answer(self, method: str, name: str, body: str | None, headers: dict[str, str]) -> bytes:
        try:
            self._connection.request(method, self._path + name, body, headers)
            return self._connection.getresponse().read()
        except ConnectionError:  # the server has closed it, because nothing was asked for some seconds
            self._connection.close()
            self._connection.request(method, self._path + name, body, headers)
            return self._connection.getresponse().read()


class StartTimes(NamedTuple):
    """Seconds since the start of the command, and what it used."""

    server: float
    """Its address is printed: the server is up."""
    page: float
    """All files of the page and its first message have been answered."""
    warm: float
    """All kernels are compiled or loaded, the agent and the coach are there."""
    processor: float
    """Processor seconds until then."""


def measure_start(agent: str, kernels: Path) -> StartTimes:
    """Starts the command and asks for the page, as a browser does.

    Args:
        agent: the opponent.
        kernels: folder of compiled kernels; in an empty one all are compiled.
    """
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(kernels), "CRIB_ENV_QUIET": "1"}
    command = [sys.executable, "-u", "-m", "crib_env.evaluate", "play", agent, "--no-browser"]
    used, started = _processor_seconds(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            if found is None:
                raise ValueError(f"the command has ended: {' '.join(command[2:])}")
            server = time.perf_counter() - started
            link = PageLink(found[0])
            for name in page_files():
                link.get(name)
            link.ask("lobby", {})
            page = time.perf_counter() - started
            while not link.ask("lobby", {})["warm"]["all"]:
                time.sleep(0.1)
            warm = time.perf_counter() - started
        finally:
            process.terminate()
            process.wait()
    return StartTimes(server, page, warm, _processor_seconds() - used)


def _processor_seconds() -> float:
    """Of processes that this one has started and that have ended; on Windows always 0."""
    used = os.times()
    return used.children_user + used.children_system
