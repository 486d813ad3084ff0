"""Bad input of every command of ``evaluate`` is one line that names it, before any work begins and any file is made."""

from __future__ import annotations

import pytest

from crib_env.evaluate.__main__ import COMMANDS, load, main
from crib_env.evaluate.skill.suite.suite import TASKS
from tests.helpers.command_lines import NEEDED, answer, bad_numbers, numbers_of


def refused(arguments, monkeypatch, tmp_path):
    """The one line that a command line is answered with; work and files are forbidden."""
    monkeypatch.chdir(tmp_path)
    found = answer(main, arguments)
    assert found.fault() is None
    assert len(found.errors.splitlines()) == 1
    assert not list(tmp_path.iterdir())
    return found.errors


def test_every_command_is_walked():
    assert NEEDED.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_number_out_of_its_range_is_refused_before_any_work(name, monkeypatch, tmp_path):
    for number in numbers_of(load(name)):
        for value in bad_numbers(number):
            shown = refused([*name.split(), *NEEDED[name], *number.given(value)], monkeypatch, tmp_path)
            assert shown.startswith(f"error: {number.option}=")
            assert str(number.allowed) in shown.partition(" is not allowed: give ")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["exploitability"], "there are no agents: give one or more"),
        (["suite", "greedy", "--skip", *(task.NAME for task in TASKS)], "skip="),
        (["solve", "play", __file__], "test_bad_input.py is not a solution of the play"),
        (["play", "greedy", "--scores", "121", "0"], "scores=121 is not allowed"),
        (["play", "mcp", "human"], "agent 'human' is not allowed"),
        (["play", "mcp", "nobody"], "there is no agent 'nobody'"),
        (["play", "human"], "agent 'human' is not allowed: you are the human here"),
        (["play", ""], "there is no agent '': choose one of random, greedy"),
        (["match", "", "greedy"], "there is no agent '': choose one of random, greedy"),
        (["play", "human", "--terminal"], "agent 'human' is not allowed: you are the human here"),
        (["play", "runs/nobody"], "there is no agent 'runs/nobody'"),
        (["play", "ismcts:iterations=1000000000"], "iterations=1000000000 is not allowed, give 1 to 10000000"),
    ],
)
def test_other_bad_input_is_refused_before_any_work(arguments, message, monkeypatch, tmp_path):
    assert message in refused(arguments, monkeypatch, tmp_path)
