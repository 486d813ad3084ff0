"""The long comparison of the engine with plain rules: a short piece of it, and proof that it can fail."""

from __future__ import annotations

import json
import sys
from functools import partial

import numpy as np
import pytest

from tests.differential import __main__ as command
from tests.differential.comparison import FIELDS, PLAYS
from tests.differential.plain_rules import KINDS
from tests.helpers.wrong_rules import WRONG_RULES, play_in_python, rules_in_python


@pytest.fixture
def in_python(monkeypatch):
    """Lets the loop around both sides run as plain Python, on given rules."""
    return partial(play_in_python, monkeypatch)


def test_no_difference_over_random_games(in_python):
    in_python(rules_in_python())
    compared, found = command.compare_chunk(seed=1, chunk=0, n_plays=3_000)
    assert found is None
    assert compared.totals[PLAYS] >= 3_000
    assert np.count_nonzero(compared.events) >= len(KINDS) - 1  # four of a kind is rare
    assert np.count_nonzero(compared.ends) >= 6


@pytest.mark.slow
def test_no_difference_over_a_million_cards():
    compared, found = command.compare_chunk(seed=1, chunk=0, n_plays=1_000_000)
    assert found is None
    assert compared.totals[PLAYS] >= 1_000_000
    assert compared.events.all()  # every kind of point fell
    assert compared.ends.all()  # and won games


@pytest.mark.parametrize("error", WRONG_RULES)
def test_a_wrong_rule_is_found(in_python, error):
    right, wrong, field = WRONG_RULES[error]
    in_python(rules_in_python(right, wrong))
    _, found = command.compare_chunk(seed=1, chunk=0, n_plays=10_000)
    assert found is not None
    assert field in FIELDS
    assert found.startswith(f"{field} differ: ")


def run(monkeypatch, state, *arguments):
    monkeypatch.setattr(sys, "argv", ["differential", "--state", str(state), *arguments])
    return command.main()


def without_seconds(state):
    return {key: value for key, value in json.loads(state.read_text()).items() if key != "seconds"}


def test_a_run_that_was_stopped_goes_on_to_the_same_result(in_python, monkeypatch, tmp_path, capsys):
    in_python(rules_in_python())
    monkeypatch.setattr(command, "CHUNK", 50)
    assert run(monkeypatch, tmp_path / "whole.json", "--plays", "300") == 0
    assert "no difference" in capsys.readouterr().out

    compare_chunk = command.compare_chunk
    chunks = []

    def stop_in_the_second(seed, chunk, n_plays):
        chunks.append(chunk)
        if chunks == [0, 1]:
            raise KeyboardInterrupt
        return compare_chunk(seed, chunk, n_plays)

    monkeypatch.setattr(command, "compare_chunk", stop_in_the_second)
    assert run(monkeypatch, tmp_path / "stopped.json", "--plays", "300") == 130
    assert run(monkeypatch, tmp_path / "stopped.json", "--plays", "300") == 0
    assert chunks[:3] == [0, 1, 1]
    assert without_seconds(tmp_path / "stopped.json") == without_seconds(tmp_path / "whole.json")


def test_runs_of_other_seeds_are_not_added_up(in_python, monkeypatch, tmp_path, capsys):
    in_python(rules_in_python())
    monkeypatch.setattr(command, "CHUNK", 10)
    state = tmp_path / "state.json"
    assert run(monkeypatch, state, "--plays", "10") == 0
    with pytest.raises(SystemExit) as error:
        run(monkeypatch, state, "--plays", "20", "--seed", "1")
    assert error.value.code == 2
    assert "state.json" in capsys.readouterr().err


def test_a_difference_ends_the_run_with_status_1(in_python, monkeypatch, tmp_path, capsys):
    in_python(rules_in_python(*WRONG_RULES["heels for a queen"][:2]))
    assert run(monkeypatch, tmp_path / "state.json", "--plays", "1000") == 1
    assert "scores differ: " in capsys.readouterr().out
    assert run(monkeypatch, tmp_path / "state.json", "--plays", "1000") == 1  # and it is remembered
