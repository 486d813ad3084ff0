"""Errors to plant in the plain rules, which the comparison with the engine must find."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.differential import __main__ as command
from tests.differential import comparison, plain_rules

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


def play_in_python(monkeypatch: pytest.MonkeyPatch, rules: ModuleType) -> None:
    """Lets the loop around both sides run as plain Python, on given rules."""
    monkeypatch.setattr(comparison, "rules", rules)
    monkeypatch.setattr(command, "compare", comparison.compare.py_func)
    for name, value in list(vars(comparison).items()):
        if getattr(value, "__module__", "") == comparison.__name__ and hasattr(value, "py_func"):
            monkeypatch.setattr(comparison, name, value.py_func)
