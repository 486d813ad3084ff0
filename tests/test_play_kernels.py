"""All kernels of the page are there once it says so."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

# All levels against a person who asks for all that the page has. A kernel that is looked for on the disk after the
# page has called itself ready would have been compiled then on a first start.
PLAY_ALL = """
import tempfile
from pathlib import Path
from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.page.games import Games
from tests.helpers.page import served
from crib_env.evaluate.play.page.warming import warmed_up
from crib_env.evaluate.play.saved_game import GameSoFar
from crib_env.kernels import KERNELS
from tests.helpers.page import Page

def looked_for():
    return {f"{kernel.__name__} {types}" for kernel in KERNELS for types in kernel.overloads}

with tempfile.TemporaryDirectory() as folder:
    games = Games(Path(folder), Path(folder) / "games.jsonl", GameSoFar(LEVELS[2].agent, 0, None, (0, 0), ()))
    for games.warm in warmed_up(LEVELS[2].agent):
        pass
    warm = looked_for()
    with served(games) as address:
        def ask(name, message):
            status, found = Page(games, address).ask(name, **message)
            assert status == 200, found
            return found

        for k, level in enumerate((*LEVELS, LEVELS[-1])):
            scores = [0, 0] if level is LEVELS[-1] and k == len(LEVELS) else [100, 95]
            form = {"dealer": "cut", "scores": scores, "practice": False, "coach": "before"}
            state = ask("new", {"agent": level.agent, "seed": k, **form})
            game, decisions = {"game": state["game"]}, []
            while not state["over"]:
                at = {**game, "at": state["at"]}
                decisions.append(at)
                cards = ask("hint", at)["cards"] if k % 2 else state["frames"][-1]["sides"][0]["legal"]
                state = ask("play", {**at, "cards": cards[: state["choose"]]})
                ask("notes", game)
            ask("review", game)
            for at in decisions:
                ask("choices", at)
            ask("share", game)
        for position in ask("lesson", {"theme": ""})["positions"]:
            cards = position["frame"]["sides"][0]["legal"][: position["choose"]]
            ask("answer", {"theme": "", "position": position["id"], "cards": cards})
print(len(warm), *sorted(looked_for() - warm), sep="\\n")
"""


@pytest.mark.slow
def test_nothing_is_compiled_once_the_page_says_that_all_is_ready():
    done = subprocess.run(
        [sys.executable, "-c", PLAY_ALL], capture_output=True, text=True, cwd=Path(__file__).parents[1]
    )
    assert done.returncode == 0, done.stderr
    warm, *late = done.stdout.split("\n")[:-1]
    assert int(warm) > 20  # kernels that others call are not looked for
    assert not late, late
