"""Hostile messages to the page and to MCP: each is refused in words, and the next good one is answered."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from crib_env.evaluate.play.page.games import MESSAGES
from tests.attack.attempts import Attempts, Sizes
from tests.helpers.files_of_users import HOSTILE
from tests.helpers.page import Page, served_page

TEXTS = (
    "", "a" * 3_000, "/" * 300, "../../etc/passwd", "\0", "\ud800", "\u202e", "\x1b[2J", "[/x]", "<script>", "{}", "%s",
    "os:system", "pipe:touch here", "llm:base_url=http://127.0.0.1:9", "td", "td:/nowhere", "ZZ", "5H 5H", "🂡",
)  # fmt: skip
VALUES = (*TEXTS, None, True, -1, 1 << 70, 1.5, 1e308, [], {}, [[]], [None, 7], ["5H"] * 500, {"game": "a"})
ANSWERS = (
    "```" + " " * 60_000,
    "Answer: " * 8_000,
    "<think>" * 9_000,
    "[" * 60_000,
    "\n" * 60_000,
    "5H\0",
    "🂡" * 16_000,
)
GIVEN = {
    "agent": "greedy", "dealer": "cut", "scores": [0, 0], "seed": 1, "practice": True, "coach": "off", "at": 0,
    "counting": "table", "people": ["a", "b"], "line": "{}", "cards": ["5H", "6H"], "counted": 0, "points": 0,
    "position": "",
}  # fmt: skip
TOOLS = {
    "discard": {"a": "5H", "b": "6H"},
    "lay": {"card": "5H"},
    "analyse_hand": {"cards": "5H 5C JD QS 2H 3D", "is_dealer": True, "your_score": 0, "opponent_score": 0},
}


def attack(sizes: Sizes, seed: int) -> Iterator[Attempts]:
    """Fields of every message of the page, its bodies; arguments of the tools of MCP, its lines."""
    draw = random.Random(seed)
    found = Attempts("messages to the page that were not answered in words")
    with tempfile.TemporaryDirectory() as folder, served_page(Path(folder)) as page:
        game = page.begin(practice=True)["game"]
        messages = [(name, json.dumps(content).encode()) for name, content in hostile_messages(game)]
        messages += [(name, content) for name in MESSAGES for content in HOSTILE.values()]
        for name, content in draw.sample(messages, min(sizes.lines, len(messages))):
            found.make(send, page, game, name, content)
    yield found
    found = Attempts("lines to MCP after which it did not go on")
    lines = [*HOSTILE.values(), *(json.dumps(value).encode() for value in VALUES), b'{"jsonrpc": "2.0", "id": 1}']
    calls = [*hostile_calls()]
    with tempfile.TemporaryDirectory() as folder, Client.started(folder) as client:
        for line in draw.sample(lines, min(sizes.lines, len(lines))):
            found.make(client.go_on_after, line)
        for tool, arguments in draw.sample(calls, min(sizes.lines, len(calls))):
            found.make(client.refuse, tool, arguments)
    yield found


def hostile_messages(game: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every message with one field that is not as it should be, left out, or too many."""
    for name, kind in MESSAGES.items():
        good = {field: GIVEN.get(field, game) for field in kind._fields}
        for field in [*good, "another"]:
            yield from ((name, {**good, field: value}) for value in VALUES if (field, value) != ("agent", ""))
        yield from ((name, {key: good[key] for key in good if key != field}) for field in good)


def send(page: Page, game: str, name: str, content: bytes) -> None:
    """Raises an error unless a message is answered or refused in words, and the game is still there."""
    status, _, body = page.send("POST", f"/{page.token}/do/{name}", content, {"Origin": page.origin})
    assert status in (200, 400, 404, 409, 413), f"{status}: {body[:200]!r}"
    assert status == 200 or json.loads(body)["error"]
    status, _ = page.ask("look", game=game)
    assert status == 200, "the game is gone"


def hostile_calls() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every tool with one argument that is not as it should be."""
    for tool, good in TOOLS.items():
        for name in good:
            # The SDK takes a line with half a surrogate for no message.
            yield from ((tool, {**good, name: value}) for value in (*VALUES, *ANSWERS) if value != "\ud800")


class Client:
    """A plain client of the server, which can send what is no message."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self._n = process, 0
        self.ask(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "attack", "version": "1"}},
            600,
        )
        self.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())
        self.ask("tools/call", {"name": "deal", "arguments": {}}, 600)  # kernels are compiled

    @classmethod
    @contextmanager
    def started(cls, folder: str) -> Iterator[Client]:
        """A server in a folder, which ends when its input does."""
        command = [sys.executable, "-m", "crib_env.evaluate", "play", "mcp", "greedy", "--seed", "1"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
            try:
                yield cls(process)
            finally:
                process.kill()
                with suppress(OSError):
                    process.communicate()

    def write(self, line: bytes) -> None:
        """Sends a line."""
        self._process.stdin.write(line.replace(b"\n", b" ") + b"\n")
        self._process.stdin.flush()

    def ask(self, method: str, given: dict[str, Any], seconds: float = 60) -> dict[str, Any]:
        """The answer to a request; other lines before it are skipped."""
        self._n += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._n, "method": method, "params": given}).encode())
        late = threading.Timer(seconds, self._process.kill)
        late.start()
        try:
            while True:
                line = self._process.stdout.readline()
                assert line, f"no answer to {method}"
                answer = json.loads(line)
                if answer.get("id") == self._n:
                    return answer
        finally:
            late.cancel()

    def go_on_after(self, line: bytes) -> None:
        """Raises an error unless the server still answers."""
        self.write(line)
        assert "result" in self.ask("ping", {})

    def refuse(self, tool: str, arguments: dict[str, Any]) -> None:
        """Raises an error unless a call is refused, and nothing has happened in the game."""
        before = self.ask("tools/call", {"name": "look", "arguments": {}})["result"]
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "error" in answer or answer["result"]["isError"] or tool == "analyse_hand", answer
        assert self.ask("tools/call", {"name": "look", "arguments": {}})["result"] == before
