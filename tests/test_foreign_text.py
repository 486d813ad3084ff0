"""Names of agents, players, folders are shown as they are, whatever they hold: no markup, no control of a terminal."""

import io
import json
import sys

import pytest

from crib_env.agents import make_agent
from crib_env.evaluate import console as console_module
from crib_env.evaluate.__main__ import main
from crib_env.evaluate.console import LiteralConsole, ProgressLines, printable, progress_bar, say
from crib_env.evaluate.matches.match import play_games
from tests.helpers.command_here import run_here
from tests.helpers.written_runs import summary_of, write_run

NAMES = (
    "[/x]",
    "[red]hi",
    "[link=http://a.invalid]b",
    ":smile:",
    "$\\frac$",
    "\x1b]0;owned\x07\x1b[31mred\x9b2J\u202e",
)
STRANGERS = """
from crib_env.agents.baselines import GreedyAgent

class Named(GreedyAgent):
    def __init__(self, name: str):
        super().__init__()
        self.name = name
"""


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def agent(name, tmp_path, monkeypatch):
    """An agent of this name, whose words on a command line hold it too."""
    (tmp_path / "strangers.py").write_text(STRANGERS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield f"strangers:Named:name={name}"
    sys.modules.pop("strangers", None)


def assert_shown(name, *words):
    done = run_here(main, *words)
    assert done.status == 0, done.errors
    assert "".join(printable(name).split()) in "".join(done.out.split())  # a long one is folded
    assert all(c.isprintable() or c == "\n" for c in done.out + done.errors)


def test_names_of_agents(name, agent, tmp_path):
    assert_shown(name, "match", agent, "random", "--games", "2", "--record", tmp_path / "games.jsonl")
    assert_shown(name, "league", agent, "random", "--games", "2")
    assert_shown(name, "suite", agent, "--only", "discards", "--share", "0.001")


def test_names_of_recorded_players(name, tmp_path):
    (game,) = next(play_games(make_agent("greedy"), make_agent("random"), 2, keep_records=True)).records[:1]
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(json.loads(game.to_line()) | {"players": [name, "random"]}) + "\n")
    assert_shown(name, "analyse", path, "--judge", "expert")


def test_names_of_folders(name, tmp_path):
    folder = f"{name.replace('/', '')}v2"
    assert_shown(folder, "runs", write_run(tmp_path / folder, summary=summary_of()))


def test_bars_and_lines_above_them(name, monkeypatch):
    written = io.StringIO()
    console = LiteralConsole(file=written, width=120, force_terminal=True, legacy_windows=False, color_system=None)
    monkeypatch.setattr(console_module, "console", console)
    bar, lines = progress_bar(), ProgressLines(name)
    with console.capture() as shown:
        for one in (bar, lines):
            task = one.add_task(f"{name} against random", total=2)
            say(one, name)
        console.print(bar.get_renderable())
        lines.update(task, completed=1)
    assert shown.get().count(printable(name)) == 6
    assert all(c.isprintable() or c == "\n" for c in shown.get())
