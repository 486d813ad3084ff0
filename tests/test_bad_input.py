"""Bad input of commands and of makers of tables is one line that names it, before any work and any file."""

from __future__ import annotations

from functools import partial
from importlib import import_module

import pytest

from crib_env.evaluate.__main__ import COMMANDS, load, main
from crib_env.evaluate.makers import run
from crib_env.evaluate.skill.suite.suite import TASKS
from tests.helpers.command_lines import NEEDED, answer, bad_numbers, fault_of, numbers_of


@pytest.fixture
def refused(monkeypatch, tmp_path):
    """A function that gives the one line that a command line is answered with; work and files are forbidden."""
    monkeypatch.chdir(tmp_path)

    def refused(arguments, main=main):
        found = answer(main, arguments)
        assert fault_of(found) is None
        assert len(found.errors.splitlines()) == 1
        assert not list(tmp_path.iterdir())
        return found.errors

    return refused


def test_every_command_is_walked():
    assert NEEDED.keys() == COMMANDS.keys()


# What each maker of tables needs.
MAKERS = {
    "calibration": ["calibration.json"],
    "cribs": ["cribs.npz"],
    "luck": ["luck.npz"],
    "pegging": ["pegging.npz"],
    "solutions": ["solution.npz", "deals", "."],
    "suite": ["discards.npz"],
    "win_table": ["wins.npz"],
}


def maker(name):
    return getattr(import_module(f"crib_env.evaluate.makers.{name}"), name)


@pytest.mark.parametrize("name", [*COMMANDS, *(f"makers.{name}" for name in MAKERS)])
def test_a_number_out_of_its_range_is_refused_before_any_work(name, refused):
    if name in COMMANDS:
        function, needed, begin = load(name), [*name.split(), *NEEDED[name]], main
    else:
        function, needed = maker(name[7:]), MAKERS[name[7:]]
        begin = partial(run, function)
    for number in numbers_of(function):
        for value in bad_numbers(number):
            shown = refused([*needed, *number.given(value)], begin)
            assert shown.startswith(f"error: {number.option}=")
            assert str(number.allowed) in shown.partition(" is not allowed: give ")[2]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("solution.npz", "there is no solution of the pegging game solution.npz"),
        (__file__, "is not a solution of the pegging game"),
    ],
)
def test_a_solution_that_is_missing_or_another_file_is_refused(file, message, refused):
    assert message in refused([file, *MAKERS["solutions"][1:]], partial(run, maker("solutions")))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["exploitability"], "there are no agents: give one or more"),
        (["suite", "greedy", "--skip", *(task.NAME for task in TASKS)], "skip="),
        (["solve", "play", __file__], "test_bad_input.py is not a solution of the pegging game"),
        (["play", "greedy", "--scores", "121", "0"], "scores=121 is not allowed"),
        (["play", "mcp", "human"], "agent 'human' is not allowed"),
        (["play", "mcp", "nobody"], "there is no agent 'nobody'"),
        (["play", "human"], "agent 'human' is not allowed: you are the human here"),
        (["play", ""], "there is no agent '': choose one of random, greedy"),
        (["match", "", "greedy"], "there is no agent '': choose one of random, greedy"),
        (["play", "human", "--terminal"], "agent 'human' is not allowed: you are the human here"),
        (["play", "runs/nobody"], "there is no agent 'runs/nobody'"),
        (["play", "ismcts:iterations=1000000000"], "iterations='1000000000' is not allowed, give 1 to 10,000,000"),
    ],
)
def test_other_bad_input_is_refused_before_any_work(arguments, message, refused):
    assert message in refused(arguments)
