"""The long comparison of the engine with plain rules: a short piece of it, and proof that it can fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.differential import __main__ as command
from tests.differential import comparison, plain_rules
from tests.differential.comparison import FIELDS, PLAYS
from tests.differential.plain_rules import KINDS

# Errors for the plain rules: the right text, the wrong text, and the field in which the difference must appear.
WRONG_RULES = {
    "two for the last card": ("peg(t, player, 1, LAST_CARD", "peg(t, player, 2, LAST_CARD", "scores"),
    "31 and one for the last card": ("count(t) != 31 and peg", "peg", "scores"),
    "heels for a queen": ('rank(t["starter"]) == JACK', 'rank(t["starter"]) == JACK - 1', "scores"),
    "no runs of three in the play": ("range(n - 2)", "range(n - 3)", "scores"),
    "a go is called last card": ("LAST_CARD if no_cards_left else GO", "LAST_CARD", "events"),
    "the show goes on after 121": ('t["phase"] = OVER\n        return True', "return False", "phase"),
    "the same player leads after a go": ("opponent if how_many(", "player if how_many(", "turn"),
    "the player who laid goes on": ("    asked = opponent", "    asked = player", "turn"),
    "dealer's hand is counted first": ("if peg(t, pone, show_points", "if peg(t, dealer, show_points", "scores"),
    "a flush needs three cards only": (" == suit(five[3])", "", "number of events"),
    "pone keeps the deal": ('t["dealer"] = 1 - t["dealer"]\n    t["turn"]', 't["turn"]', "dealer"),
    "the dealer discards first": ('"] = 1 - t["dealer"]\n    t["hands"]', '"] = t["dealer"]\n    t["hands"]', "turn"),
    "a count goes on after a go": (
        't["pile"][:] = NO_CARD\n    t["said_go"][:] = 0\n    if',
        't["said_go"][:] = 0\n    if',
        "count",
    ),
    "a skunk at 105": ("<= 90", "<= 105", "match points"),
}


def rules_in_python(right="", wrong=""):
    """The plain rules as plain Python, with one line changed."""
    source = Path(plain_rules.__file__).read_text()
    if right:
        assert source.count(right) == 1
        source = source.replace(right, wrong)
    module = ModuleType("rules_in_python")
    exec(source.replace("plain = numba.njit(cache=True)", "plain = lambda function: function"), module.__dict__)
    return module


@pytest.fixture
def in_python(monkeypatch):
    """Lets the loop around both sides run as plain Python, on given rules."""

    def patch(rules):
        monkeypatch.setattr(comparison, "rules", rules)
        monkeypatch.setattr(command, "compare", comparison.compare.py_func)
        for name, value in list(vars(comparison).items()):
            if getattr(value, "__module__", "") == comparison.__name__ and hasattr(value, "py_func"):
                monkeypatch.setattr(comparison, name, value.py_func)

    return patch


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
    assert "holds a run of other seed" in capsys.readouterr().err


def test_a_difference_ends_the_run_with_status_1(in_python, monkeypatch, tmp_path, capsys):
    in_python(rules_in_python(*WRONG_RULES["heels for a queen"][:2]))
    assert run(monkeypatch, tmp_path / "state.json", "--plays", "1000") == 1
    assert "scores differ: " in capsys.readouterr().out
    assert run(monkeypatch, tmp_path / "state.json", "--plays", "1000") == 1  # and it is remembered
