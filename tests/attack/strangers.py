"""Files and names of strangers: files that are no record of a match, and names that hold markup or escape sequences."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from crib_env.agents import make_agent
from crib_env.evaluate.__main__ import main
from crib_env.evaluate.console import console, printable
from crib_env.evaluate.matches.match import MatchResult, match_table, play_match
from tests.attack import Attempts, Sizes
from tests.helpers.command_here import run_here
from tests.helpers.files_of_users import DOCS, HOSTILE

PARTS_OF_NAMES = (
    "[/x]", "[red]", "[link=http://a.invalid]", "[bold", "\\[", "]", "[[", "[@click=quit]", ":smile:", "$\\frac$",
    "a", "\x1b[2J",
    "\x1b]8;;http://a.invalid\x07", "\x9b31m", "\r", "\b", "\t", "\u202e", "\u2066", "\x00",
)  # fmt: skip


def attack(sizes: Sizes, seed: int) -> Iterator[Attempts]:
    """Records that are none, and names; of each kind as many as files are damaged."""
    draw = random.Random(f"{seed} strangers")
    found = Attempts("files that are no record of a match, which match --record changed or accepted")
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(sizes.damages):
            found.make(refuse_record, Path(folder) / "notes.json", no_record(draw))
    yield found
    found = Attempts("names that were not shown as they are")
    agents = make_agent("greedy"), make_agent("random")
    result = play_match(*agents, 2)
    for _ in range(sizes.damages):
        found.make(show, result, "".join(draw.choices(PARTS_OF_NAMES, k=draw.randint(1, 6))))
    yield found


def no_record(draw: random.Random) -> bytes:
    """Bytes of a file that is no record of ``match greedy random``: others' games, notes, and halves of them."""
    game = DOCS.joinpath("game.jsonl").read_bytes()
    content = draw.choice([*HOSTILE.values(), game, b"notes", b'{"my": "notes"}', b"\r\n", bytes(100)]) or b"-"
    content = content[: draw.randint(min(40, len(content)), len(content))]  # shorter ones may be half of any game
    return content + draw.choice([b"", b"\n", b"\nnotes"])


def refuse_record(path: Path, content: bytes) -> None:
    """Raises an error unless the file is refused by its name, and stays as it is."""
    path.write_bytes(content)
    done = run_here(main, "match", "greedy", "random", "--games", 2, "--seed", 5, "--record", path)
    if done.status != 2 or path.name not in done.errors or path.read_bytes() != content:
        raise AssertionError(f"status {done.status}, {done.errors!r}, and the file holds {path.read_bytes()[:100]!r}")


def show(result: MatchResult, name: str) -> None:
    """Raises an error unless a table shows the name, folded or not, and nothing that is not printable."""
    with console.capture() as shown:
        console.print(match_table(replace(result, a=name)), width=1_000)
    printed, wanted = ("".join(text.split()) for text in (shown.get(), printable(name)))
    if wanted not in printed or not all(c.isprintable() or c == "\n" for c in shown.get()):
        raise AssertionError(shown.get()[:300])
