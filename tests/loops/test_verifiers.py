"""verifiers' own runner on the environment: players of known strength behind a server on this machine."""

import asyncio
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info < (3, 11):
    pytest.skip("needs Python 3.11", allow_module_level=True)
pytest.importorskip("verifiers")

from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig

from crib_env.evaluate.language.episode import Episode
from tests.helpers.model_server import PlayerInWords, model_server
from tests.helpers.other_loops import PAGE, blocks_of

BIN = Path(sys.executable).parent


@pytest.fixture(autouse=True)
def _environment(tmp_path, monkeypatch):
    """The module of the page, and uv, which runs the conversations."""
    (block,) = blocks_of("verifiers")
    (tmp_path / "cribbage.py").write_text(block)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")


def rewards(url, kind, n=1, opponent="careful"):
    """Of each seat that was asked, and how many answers could not be used, by episode."""
    config = EvalConfig.model_validate(
        {
            "env": {"taskset": {"id": "cribbage", "kind": kind, "opponent": opponent, "first": 0}},
            "model": "m",
            "client": {"base_url": url, "api_key_var": "NONE"},
            "select": {"limit": n},
            "push": False,
            "rich": None,
        }
    )
    episodes = asyncio.run(run_eval(config))
    assert all(one.ok for one in episodes)
    return [
        {trace.agent.name: (trace.rewards["minus_loss"].score, trace.metrics["illegal"]) for trace in one.traces}
        for one in sorted(episodes, key=lambda one: one.task.data.number)
    ]


def played(kind, number, opponent="careful"):
    """The rewards of both seats when `greedy` answers."""
    episode, player = Episode(kind, number, opponent), PlayerInWords("greedy")
    while not episode.is_over:
        episode.answer(player.cards(episode.words()))
    return episode.reward() if kind in ("discards", "play") else (episode.reward(0), episode.reward(1))


def test_a_player_behind_it_has_the_rewards_of_the_same_positions():
    with model_server(PlayerInWords("greedy").answer) as (url, asked):
        for kind in ("discards", "play"):
            assert rewards(url, kind, 6) == [{"player": (played(kind, k), 0)} for k in range(6)]
        assert len(asked) == 12
        assert rewards(url, "deal") == [{"player": (played("deal", 0)[0], 0)}]
        own, other = played("deal", 0, None)
        assert rewards(url, "deal", opponent=None) == [{"player": (own, 0), "rival": (other, 0)}]


def test_a_whole_game():
    with model_server(PlayerInWords("greedy").answer) as (url, _):
        assert rewards(url, "game") == [{"player": (played("game", 0)[0], 0)}]


def test_answers_without_cards_lose_the_most():
    worst = Episode("discards", 0)
    worst.give_up()
    with model_server(lambda messages: "I pass.") as (url, asked):
        assert rewards(url, "discards") == [{"player": (worst.reward(), 3)}]
    assert "That cannot be played" in asked[1][0]["messages"][-1]["content"]


def test_the_command_of_the_page():
    (command,) = [line for line in PAGE.splitlines() if "vf-eval" in line]
    variables, *arguments = shlex.split(command.replace("-n 10", "-n 2").replace("deal", "play"))
    assert variables == "PYTHONPATH=."
    with model_server(PlayerInWords("greedy").answer) as (url, asked):
        arguments[arguments.index("--client.base-url") + 1] = url
        done = subprocess.run([*arguments, "--no-rich"], env={**os.environ, "PYTHONPATH": "."}, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert len(asked) == 2
