"""Bad input of every command of ``evaluate`` is one line that names it, before any work begins and any file is made."""

from __future__ import annotations

import inspect
import math
import sys
from dataclasses import fields, is_dataclass
from typing import Annotated, get_args, get_origin, get_type_hints

import pytest
from rich.progress import Progress

from crib_env.evaluate.__main__ import main
from crib_env.evaluate.commands.registry import COMMANDS
from crib_env.evaluate.ranges import Range
from crib_env.evaluate.skill.suite.suite import TASKS

# What each command needs; the files do not exist, since numbers are checked before files are opened.
NEEDED = {
    "match": ["greedy", "random"],
    "play": ["greedy"],
    "league": ["greedy", "random"],
    "match endgames": ["greedy", "random"],
    "suite": ["greedy"],
    "match budgets": ["ismcts:iterations={}", "--budgets", "1", "--json", "curve.json"],
    "runs curves": ["run", "--picture", "curve.png"],
    "runs": ["run"],
    "analyse replay": ["games.jsonl"],
    "analyse": ["games.jsonl"],
    "make-table discards": ["table"],
    "make-table cribs": ["cribs.npz"],
    "make-table win": ["wins.npz"],
    "make-table calibration": ["calibration.json"],
    "make-table luck": ["luck.npz"],
    "dataset": ["folder"],
    "make-table suite": ["suite.npz", "--solution", "solution.npz"],
    "discard": ["5H5CJDQS2H3D"],
    "make-table pegging": ["pegging.npz"],
    "make-table blueprint": ["blueprint.npz", "solution.npz", "solutions"],
    "solve-play": ["solution.npz"],
    "exploitability": ["greedy"],
    "leads": [],
    "make-table leads": ["solution.npz", "leads.npz"],
    "benchmark decisions": ["greedy"],
    "benchmark page": ["greedy"],
    "reproduce lang-tournament": ["run"],
    "reproduce": ["mueller-1987"],
    "benchmark": ["games"],
}


def notes_in(kind):
    """Every number in a type, each with its annotations."""
    if get_origin(kind) is Annotated:
        number, *notes = get_args(kind)
        inner = notes_in(number)
        return [(found, [*own, *notes]) for found, own in inner]
    if kind in (int, float):
        return [(kind, [])]
    return [found for part in get_args(kind) for found in notes_in(part)]


def numbers_of(name):
    """Options of a command that are numbers: each with its range, and how many numbers it takes."""
    function = COMMANDS[name].load()
    kinds = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters:
        kind = kinds[parameter]
        plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        own = get_type_hints(plain, include_extras=True) if is_dataclass(plain) else {parameter: kind}
        names = [field.name for field in fields(plain)] if is_dataclass(plain) else [parameter]
        for option in names:
            if found := notes_in(own[option]):
                number, notes = found[0]
                yield option, number, [note for note in notes if isinstance(note, Range)], len(found)


def refused(arguments, monkeypatch, capsys, tmp_path):
    """The one line that a command line is answered with; work and files are forbidden."""

    def begin(self):
        pytest.fail("work has begun")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Progress, "__enter__", begin)
    monkeypatch.setattr(sys, "argv", ["evaluate", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr().err
    assert ended.value.code == 2
    assert shown.startswith("error: ")
    assert len(shown.splitlines()) == 1
    assert not list(tmp_path.iterdir())
    return shown


def test_every_command_is_walked():
    assert NEEDED.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_number_out_of_its_range_is_refused_before_any_work(name, monkeypatch, capsys, tmp_path):
    for option, number, ranges, several in numbers_of(name):
        (allowed,) = ranges  # each number has one
        bad = [allowed.least if allowed.above else allowed.least - 1]
        bad += [allowed.most + 1] if allowed.most < math.inf else []
        bad += ["nan", "inf"] if number is float else []
        bad += [allowed.least + 1] if allowed.even else []
        for value in bad:
            arguments = [*name.split(), *NEEDED[name], f"--{option.replace('_', '-')}", *[str(value)] * several]
            shown = refused(arguments, monkeypatch, capsys, tmp_path)
            assert shown.startswith(f"error: {option}=")
            assert str(allowed) in shown.partition(" is not allowed: give ")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["exploitability"], "there are no agents: give one or more"),
        (["suite", "greedy", "--skip", *(task.NAME for task in TASKS)], "skip="),
        (["make-table", "leads", "solution.npz", "leads.npz"], "there is no solution of the play solution.npz"),
        (
            ["make-table", "suite", "suite.npz", "--solution", "solution.npz"],
            "there is no solution of the play solution.npz",
        ),
        (
            ["make-table", "blueprint", "blueprint.npz", "solution.npz", "solutions"],
            "there is no solution of the play solutions/A.npz",
        ),
        (["make-table", "leads", __file__, "leads.npz"], "test_bad_input.py is not a solution of the play"),
        (
            ["make-table", "suite", "suite.npz", "--solution", __file__],
            "test_bad_input.py is not a solution of the play",
        ),
        (["solve-play", __file__], "test_bad_input.py is not a solution of the play"),
        (["play", "greedy", "--scores", "121", "0"], "scores=(121, 0) is not allowed"),
        (["play", "human"], "agent 'human' is not allowed: you are the human here"),
        (["play", "human", "--terminal"], "agent 'human' is not allowed: you are the human here"),
        (["play", "runs/nobody"], "there is no agent 'runs/nobody'"),
        (["play", "ismcts:iterations=1000000000"], "iterations=1000000000 is not allowed, give 1 to 10000000"),
    ],
)
def test_other_bad_input_is_refused_before_any_work(arguments, message, monkeypatch, capsys, tmp_path):
    assert message in refused(arguments, monkeypatch, capsys, tmp_path)
