"""Agents named in text: settings from signatures, ``module:Class`` of anybody's own file, and what is refused."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import gymnasium
import numpy as np
import pytest

from crib_env import OneAtATime
from crib_env.agents import make_agent
from crib_env.evaluate.__main__ import main
from crib_env.evaluate.commands.match import MatchArguments, match
from crib_env.evaluate.commands.suite import suite
from crib_env.evaluate.matches.league import League
from crib_env.evaluate.matches.match import play_match
from crib_env.train.__main__ import main as train
from crib_env.train.loop.run_folder import RunFolder
from tests.helpers.command_here import run_here
from tests.helpers.refusals import refused
from tests.helpers.small_settings import DDQN as SMALL

MY_FILE = """
from pathlib import Path
from typing import Literal, Optional

from helper_beside_my_file import lowest


class MyAgent:
    name = "mine"

    def __init__(self, depth: int = 2, bold: bool = False, lead: Literal["low", "high"] = "low", share=0.5,
                 top: Optional[int] = 3, path: Path | None = None, table: dict | None = None) -> None:
        if depth < 0:
            raise ValueError(f"depth={depth} is below 0")
        self.settings = (depth, bold, lead, share, top, path)

    @classmethod
    def load(cls, path: str) -> "MyAgent":
        return cls(path=Path(path))

    def act(self, views):
        return lowest(views)


class Numb:
    name = "numb"


class Nameless:
    def act(self, views):
        return lowest(views)


class NeedsTable(Nameless):
    def __init__(self, table: dict) -> None:
        self.name = "table"


class NamesItself(Nameless):
    def __init__(self, depth: int = 1) -> None:
        self.name = f"itself:depth={depth}"


class Reads(Nameless):
    name = "reads a file"

    def __init__(self, path: Path) -> None:
        path.read_text()


class HasAFixedName(Nameless):
    def __init__(self, depth: int = 1) -> None:
        pass

    @property
    def name(self) -> str:
        return "fixed"


class InHands:
    name = "in hands"

    def __init__(self, depth: int = 1) -> None:
        pass

    def throw(self, view):
        return view.hand[:2]

    def lay(self, view):
        return view.legal[0]


a_number = 3
"""


@pytest.fixture
def my_file(tmp_path, monkeypatch):
    """The current folder is one with ``my_file.py`` in it."""
    (tmp_path / "my_file.py").write_text(MY_FILE)
    (tmp_path / "helper_beside_my_file.py").write_text(
        "def lowest(views):\n    return views.action_mask.argmax(axis=1)\n"
    )
    (tmp_path / "broken_file.py").write_text("class Broken(:\n")
    (tmp_path / "needy_file.py").write_text("import a_library_that_is_not_there\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", str(tmp_path))])
    yield tmp_path
    for name in ("my_file", "helper_beside_my_file"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("settings", "read"),
    [
        ("", (2, False, "low", 0.5, 3, None)),
        (".load:a/b", (2, False, "low", 0.5, 3, Path("a/b"))),
        (":depth=7,bold=yes,lead=high,share=0.25,top=none", (7, True, "high", 0.25, None, None)),
        (":some/path", (2, False, "low", 0.5, 3, Path("some/path"))),
        (":path=a,b=c/final,bold=true", (2, True, "low", 0.5, 3, Path("a,b=c/final"))),
        (":a,b=c/final,depth=1", (1, False, "low", 0.5, 3, Path("a,b=c/final"))),
        (":path=a,bold/final,depth=1,bold=Yes", (1, True, "low", 0.5, 3, Path("a,bold/final"))),
        (":runs/lr=0.1/final", (2, False, "low", 0.5, 3, Path("runs/lr=0.1/final"))),
    ],
)
def test_settings_are_the_parameters_of_the_constructor(my_file, settings, read):
    assert make_agent(f"my_file:MyAgent{settings}").settings == read


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("my_file:MyAgent", "mine"),
        ("my_file:MyAgent:depth=3,bold=yes,lead=low", "mine:depth=3,bold=yes"),
        ("my_file:MyAgent:a/b,depth=3", "mine:a/b,depth=3"),
        ("my_file:NamesItself:depth=3", "itself:depth=3"),
        ("my_file:HasAFixedName:depth=3", "fixed"),
        ("random:seed=3", "random:seed=3"),
        ("expert:hands=10,threads=1", "expert:hands=10"),
        ("expert:hands=100", "expert"),
        ("minimax:depth=2", "minimax:depth=2"),
        ("ismcts:iterations=9", "ismcts:iterations=9"),
        ("best:scores=no", "best:scores=no"),
        ("my_file:Nameless", "Nameless"),
    ],
)
def test_a_name_keeps_the_settings_that_make_a_difference(my_file, spec, name):
    assert make_agent(spec).name == name


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("my_fil:MyAgent", "there is no agent 'my_fil:MyAgent': no module 'my_fil'"),
        ("my_file:Agent", "my_file has no 'Agent', it has MyAgent, Nameless, "),
        ("my_file:MyAgent.lod", "MyAgent has no 'lod'"),
        ("my_file:a_number.half", "int has no 'half'"),
        ("my_file:a_number", "'my_file:a_number' is no agent: give a class, or a method that makes one"),
        ("my_file:Numb", "'my_file:Numb' is not an agent: it has no method act(views), nor throw(view) and lay(view)"),
        ("my_file:NeedsTable", "agent 'my_file:NeedsTable' needs its table, which cannot be given as text"),
        ("my_file:MyAgent.load", "agent 'my_file:MyAgent.load' needs its path: write my_file:MyAgent.load:PATH"),
        ("my_file:MyAgent:deep=3", "has no setting 'deep': its settings are depth, bold, lead, share, top, path"),
        ("my_file:MyAgent:depth=x", "agent 'my_file:MyAgent': depth='x' is not allowed, give a whole number"),
        ("my_file:MyAgent:top=x", "top='x' is not allowed, give a whole number, or none"),
        ("my_file:MyAgent:bold=x", "bold='x' is not allowed, give yes or no"),
        ("my_file:MyAgent:lead=x", "lead='x' is not allowed, give one of low, high"),
        ("my_file:MyAgent:share=x", "share='x' is not allowed, give a number"),
        ("my_file:MyAgent:depth=1,depth=2", "agent 'my_file:MyAgent': depth is given twice"),
        ("my_file:MyAgent:depth=-1", "agent 'my_file:MyAgent': depth=-1 is below 0"),
        ("my_file:Reads:nowhere", "agent 'my_file:Reads': [Errno 2] No such file or directory: 'nowhere'"),
        ("broken_file:Broken", "broken_file cannot be imported (invalid syntax (broken_file.py, line 1))"),
        ("needy_file:Needy", "needy_file cannot be imported (No module named 'a_library_that_is_not_there')"),
        ("my_file.py:MyAgent", "write it without .py: my_file:MyAgent"),
        ("random:seed=-1", "agent 'random': "),
        ("greedy:3", "agent 'greedy' has no setting '3': it has none"),
    ],
)
def test_errors_name_what_is_wrong(my_file, spec, message):
    with refused(message):
        make_agent(spec)


def test_a_weights_file_may_have_commas_and_equals_signs_in_its_path(tmp_path):
    folder = tmp_path / "lr=0.1,seed=2"
    folder.mkdir()
    make_agent("best").save(folder / "final.safetensors")
    for spec in (f"best:path={folder}/final,scores=no", f"best:{folder}/final,scores=no"):
        agent = make_agent(spec)
        assert str(folder) in agent.name
        assert not agent.powers.remembers_discards  # which the search near the end of a game needs
    (folder / "config.json").write_text(json.dumps({"learner": "best"}))
    assert make_agent(str(folder)).powers.remembers_discards


def test_a_file_cannot_choose_which_code_runs(my_file):
    for learner in ("my_file:MyAgent", ["greedy"]):
        (my_file / "config.json").write_text(json.dumps({"learner": learner}))
        with refused(my_file):
            make_agent(str(my_file))
    assert "my_file" not in sys.modules


@pytest.mark.parametrize(
    ("words", "inner"),
    [
        (("suite", "--share", "0.001", "--only", "play"), "_measure_and_report"),
        (("league", "random", "--games", "4"), "play_and_report"),
    ],
)
def test_the_line_after_ctrl_c_names_code_of_ones_own(words, inner, my_file, monkeypatch):
    command, *more = words
    with monkeypatch.context() as patch:
        patch.setattr(f"crib_env.evaluate.commands.{command}.{inner}", Mock(side_effect=KeyboardInterrupt))
        stopped = run_here(main, command, "my_file:MyAgent:depth=3", *more, "--folder", "a folder")
    assert stopped.status == 130
    line = shlex.split(stopped.errors.splitlines()[-1].partition("continue with: ")[2])
    assert line[0] == "crib-env"
    assert run_here(main, *line[1:]).status == 0


def test_a_run_is_resumed_against_code_of_ones_own_only_if_it_is_named_again(my_file):
    folder = RunFolder.create("ddqn", replace(SMALL, opponent="my_file:MyAgent"))
    del sys.modules["my_file"]
    done = run_here(train, "ddqn", "--resume", str(folder.path))
    assert done.status == 2
    assert "my_file:MyAgent: to run that code, give the name beside --resume" in done.errors
    assert "my_file" not in sys.modules
    assert run_here(train, "ddqn", "--resume", str(folder.path), "--opponent", "my_file:MyAgent").status == 0


def test_an_agent_of_ones_own_plays_wherever_agents_are_named(my_file, capsys):
    spec = "my_file:MyAgent:depth=3"
    match(MatchArguments("greedy", spec, 4, threads=1, json_file=Path("match.json")))
    assert json.loads(Path("match.json").read_text())["b"] == "mine:depth=3"
    league = League(("random", spec), 4, 0)
    (played,) = league.play(league.begin(my_file / "league"))
    assert played.result.b == spec
    suite((spec,), only=("time",), share=0.02, folder=my_file / "suite")
    shown = capsys.readouterr().out
    assert spec in shown
    assert "mine:depth=3" in shown


def test_an_opponent_of_ones_own_is_named_in_gymnasium(my_file):
    episodes = []
    for opponent in ("my_file:MyAgent:depth=3", make_agent("my_file:MyAgent")):
        options = {"opponent": opponent, "mask": "info", "episode": "deal"}
        env = gymnasium.make("crib_env/Cribbage-v0", **options)
        envs = gymnasium.make_vec("crib_env/Cribbage-v0", 2, "vector_entry_point", **options)
        observation, info = env.reset(seed=5)
        observations, infos = envs.reset(seed=5)
        seen = []
        for _ in range(4):
            np.testing.assert_array_equal(observations[0], observation)
            seen.append(observation.tolist())
            observation, *_, info = env.step(info["action_mask"].argmax())
            observations, *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
        episodes.append(seen)
    assert episodes[0] == episodes[1]
    with refused("opponent='x'", "random"):
        gymnasium.make("crib_env/Cribbage-v0", opponent="x")
    with refused("opponent='my_file:Numb'", error=TypeError):
        gymnasium.make("crib_env/Cribbage-v0", opponent="my_file:Numb")


def test_a_one_at_a_time_class_can_be_named_too(my_file):
    agent = make_agent("my_file:InHands:depth=4")
    assert isinstance(agent, OneAtATime)
    assert agent.name == "in hands:depth=4"
    assert play_match(agent, make_agent("random"), 2).games == 2
