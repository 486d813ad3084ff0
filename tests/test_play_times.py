"""`benchmark page`: it plays whole games with the page's server, and starts the command as a user does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from crib_env.evaluate.commands import benchmark_page
from crib_env.evaluate.play.page.times import StartTimes, measure_replies, measure_start
from crib_env.evaluate.ranges import checked
from tests.helpers.refusals import refused

# All levels against a person who asks for all that the page has. A kernel that is looked for on the disk after the
# page has called itself ready would have been compiled then on a first start.
PLAY_ALL = """
import sys, tempfile
from pathlib import Path
from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.page.games import Games
from crib_env.evaluate.play.page.server import served
from crib_env.evaluate.play.page.times import PageLink
from crib_env.evaluate.play.saved_game import GameSoFar
from crib_env.kernels import KERNELS

def looked_for():
    return {f"{kernel.__name__} {types}" for kernel in KERNELS for types in kernel.overloads}

with tempfile.TemporaryDirectory() as folder:
    games = Games(Path(folder), Path(folder) / "games.jsonl", GameSoFar(LEVELS[2].agent, 0, None, (0, 0), ()))
    games.warm_up()
    warm = looked_for()
    with served(games) as address:
        ask = PageLink(address).ask
        for k, level in enumerate((*LEVELS, LEVELS[-1])):
            scores = [0, 0] if level is LEVELS[-1] and k == len(LEVELS) else [100, 95]
            form = {"dealer": "cut", "scores": scores, "practice": False, "coach": "before", "counting": "table"}
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
        for position in ask("lesson", {})["positions"]:
            cards = position["frame"]["sides"][0]["legal"][: position["choose"]]
            ask("answer", {"position": position["id"], "cards": cards})
print(len(warm), *sorted(looked_for() - warm), sep="\\n")
"""


@pytest.mark.slow
def test_the_command_prints_starts_and_replies_each_card_an_answer_a_note_and_a_hint(monkeypatch, capsys):
    starts, replies = [], []

    def started(agent, kernels):
        assert kernels.is_dir()
        starts.append(StartTimes(2.0, 2.5, 30.0, 40.0))
        return starts[-1]

    def measured(*arguments):
        replies.append(measure_replies(*arguments))
        return replies[-1]

    monkeypatch.setattr(benchmark_page, "measure_start", started)
    monkeypatch.setattr(benchmark_page, "measure_replies", measured)
    benchmark_page.page("random", games=1)
    said = capsys.readouterr().out
    assert len(starts) == 2
    (found,) = replies
    assert len(found.plays) == len(found.notes) == len(found.hints) > 20
    assert all(times.min() > 0 and times.max() < 60 for times in found)
    assert "first start: server up after 2.0 s, page there 0.5 s later, all kernels ready after 30 s" in said
    assert re.search(r"a card of yours and the reply of random: median \d+ ms, 95 % within \d+ ms, \d+ answers", said)
    (size,) = re.findall(r"the page: ([\d,]+) bytes", said)
    assert int(size.replace(",", "")) < 200_000


def test_bad_input_is_named():
    with refused("games=0"):
        checked(benchmark_page.page)("random", games=0)
    with refused("'nobody'"):
        measure_replies("nobody", 1, 0, lambda: None)


@pytest.mark.slow
def test_a_start_compiles_into_the_folder_once(tmp_path):
    first, later = measure_start("greedy", tmp_path), measure_start("greedy", tmp_path)
    assert first.server < first.page < first.warm
    assert later.processor < first.processor / 2


@pytest.mark.slow
def test_nothing_is_compiled_once_the_page_says_that_all_is_ready():
    done = subprocess.run(
        [sys.executable, "-c", PLAY_ALL], capture_output=True, text=True, cwd=Path(__file__).parents[1]
    )
    assert done.returncode == 0, done.stderr
    warm, *late = done.stdout.split("\n")[:-1]
    assert int(warm) > 20  # kernels that others call are not looked for
    assert not late, late
