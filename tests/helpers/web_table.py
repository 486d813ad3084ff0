"""The table of a site in Node, and the same table here, which are asked the same."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from crib_env.evaluate.play.page.games import READY, Games, answered
from crib_env.evaluate.play.saved_game import GameSoFar
from tests.helpers import web_positions

SITE = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html" / "play"
NEEDS_SITE = pytest.mark.skipif(not (SITE / "table.zip").is_file(), reason="there is no site of the table: make web")
SOURCE = Path(web_positions.__file__).read_text()
"""For Python in the browser."""


class WebTable:
    """The table in Node."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.seconds: dict[str, list[float]] = {}

    def ask(self, name: str, **fields):
        """The status and the content of an answer."""
        self._process.stdin.write(json.dumps([name, fields]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, self._process.stderr.read()[-3000:]
        status, found, milliseconds = json.loads(line)
        self.seconds.setdefault(name, []).append(milliseconds / 1000)
        return status, found


@contextmanager
def web_table(site: Path) -> Iterator[WebTable]:
    """The table of a site, while the block runs."""
    command = ["node", str(Path(__file__).with_suffix(".mjs")), str(site)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        try:
            yield WebTable(process)
        finally:
            process.kill()


class TableHere:
    """The table in this process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._games = Games(folder, folder / "games.jsonl", GameSoFar("greedy", 0, None, (0, 0), ()))
        self._games.warm = READY

    def ask(self, name: str, **fields):
        """The status and the content of an answer."""
        status, text = answered(self._games, name, json.dumps(fields))
        return status, json.loads(text)


def same(one, other) -> bool:
    """Whether two answers are the same; networks add up their numbers of 32 bits in different orders."""
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one == other or (isinstance(one, float) and isinstance(other, float) and abs(one - other) < 1e-6)


def _values_of(moments):
    """Of all moments, the coach's values one after the other; where it says nothing, -9."""
    return np.concatenate([np.ravel(part) for _, worths in moments for part in worths])


def check_same(there, here):
    """The cards of four agents, and the coach's values of all choices to the last figure that is shown."""
    assert [cards for cards, _ in there] == [cards for cards, _ in here]
    one, other = _values_of(there), _values_of(here)
    print(f"{sum(len(cards[0]) for cards, _ in here)} positions, {(one != -9).sum()} values")
    print(f"{(one != other).sum()} differ in bits, at most by {np.abs(one - other).max():.1e}")
    assert one.shape == other.shape
    assert np.array_equal(one.round(4), other.round(4))  # the page shows chances as 12.34 %, and points as 1.23


def play_both(
    tables,
    agent: str,
    seed: int,
    coach: str = "off",
    scores: tuple[int, int] = (0, 0),
) -> list[str]:
    """Plays a game on several tables as the first one's legal cards come, and asks each for all that follows from it.

    Returns the ids of the game; every answer is the same on all tables, but for these.
    """
    form = {"agent": agent, "dealer": "cut", "scores": scores, "seed": seed, "practice": False}

    def ask(name, **fields):
        found = [table.ask(name, **fields, **({"game": game} if game else {})) for table, game in zip(tables, games)]
        for _, content in found:
            content.pop("game", None)
        assert all(same(one, found[0]) for one in found[1:]), (agent, seed, name, fields, found)
        assert found[0][0] == 200, found[0]
        return found[0][1]

    begun = [table.ask("new", **form, coach=coach)[1] for table in tables]
    games = [state.pop("game") for state in begun]
    assert all(state == begun[0] for state in begun)
    state = begun[0]
    while not state["over"]:
        legal = state["frames"][-1]["sides"][0]["legal"]
        place = (7 * state["at"] + seed) % (len(legal) - state["choose"] + 1)
        if coach == "before":
            ask("hint", at=state["at"])
        state = ask("play", at=state["at"], cards=legal[place : place + state["choose"]])
        if coach != "off":
            ask("notes")
    if coach != "off":
        ask("review")
        ask("share")
    return games
