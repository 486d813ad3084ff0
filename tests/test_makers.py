"""Makers of tables refuse bad input in one line, before any work begins and any file is made."""

from importlib import import_module

import pytest

from crib_env.evaluate.makers import run
from tests.helpers.command_lines import answer, bad_numbers, numbers_of

# What each needs; the files do not exist, since numbers are checked before files are opened.
NEEDED = {
    "calibration": ["calibration.json"],
    "cribs": ["cribs.npz"],
    "luck": ["luck.npz"],
    "pegging": ["pegging.npz"],
    "solutions": ["solution.npz", "deals", "."],
    "suite": ["discards.npz"],
    "win_table": ["wins.npz"],
}


def refused(name, arguments, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    maker = getattr(import_module(f"crib_env.evaluate.makers.{name}"), name)
    found = answer(lambda: run(maker), arguments)
    assert found.fault() is None
    assert not list(tmp_path.iterdir())
    return found.errors


@pytest.mark.parametrize("name", NEEDED)
def test_a_number_out_of_its_range_is_refused(name, monkeypatch, tmp_path):
    maker = getattr(import_module(f"crib_env.evaluate.makers.{name}"), name)
    for number in numbers_of(maker):
        for value in bad_numbers(number):
            assert f"{number.option}=" in refused(name, [*NEEDED[name], *number.given(value)], monkeypatch, tmp_path)


def test_a_solution_that_is_missing_or_another_file_is_refused(monkeypatch, tmp_path):
    asked = NEEDED["solutions"]
    assert "there is no solution of the play solution.npz" in refused("solutions", asked, monkeypatch, tmp_path)
    asked = [__file__, *asked[1:]]
    assert "test_makers.py is not a solution of the play" in refused("solutions", asked, monkeypatch, tmp_path)
