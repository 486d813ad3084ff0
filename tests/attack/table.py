"""Hostile messages to the page: each is refused in words, and the next good one is answered."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crib_env.evaluate.play.page.games import MESSAGES
from tests.attack import Attempts, Sizes
from tests.helpers.files_of_users import HOSTILE
from tests.helpers.page import Page, served_page

TEXTS = (
    "", "a" * 3_000, "/" * 300, "../../etc/passwd", "\0", "\ud800", "\u202e", "\x1b[2J", "[/x]", "<script>", "{}", "%s",
    "os:system", "pipe:touch here", "llm:base_url=http://127.0.0.1:9", "td", "td:/nowhere", "ZZ", "5H 5H", "🂡",
)  # fmt: skip
VALUES = (*TEXTS, None, True, -1, 1 << 70, 1.5, 1e308, [], {}, [[]], [None, 7], ["5H"] * 500, {"game": "a"})
GIVEN = {
    "agent": "greedy", "dealer": "cut", "scores": [0, 0], "seed": 1, "practice": True, "coach": "off", "at": 0,
    "people": ["a", "b"], "line": "{}", "cards": ["5H", "6H"], "position": "",
}  # fmt: skip


def attack(sizes: Sizes, seed: int) -> Iterator[Attempts]:
    """Fields of every message, and whole bodies."""
    found = Attempts("messages to the page that were not answered in words")
    with tempfile.TemporaryDirectory() as folder, served_page(Path(folder)) as page:
        game = page.begin(practice=True)["game"]
        messages = [(name, json.dumps(content).encode()) for name, content in hostile_messages(game)]
        messages += [(name, content) for name in MESSAGES for content in HOSTILE.values()]
        for name, content in random.Random(seed).sample(messages, min(sizes.lines, len(messages))):
            found.make(send, page, game, name, content)
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
