"""Leads and answers of the equilibrium, their table, and what rules of thumb cost."""

import re
from pathlib import Path

import numpy as np
import pytest

from crib_env.cards import RANKS
from crib_env.evaluate.commands.analyse import leads
from crib_env.hands import HANDS, hand_number
from crib_env.tables.shipped import standard_leads
from docs.rules_of_thumb import (
    answer_habits,
    answers_found,
    lead_habits,
    leads_found,
    rules_for_answers,
    rules_for_leads,
    tally,
)
from tests.helpers.refusals import refused

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def table():
    return standard_leads()


def first_of_rank():
    return np.c_[np.ones(len(HANDS[4]), bool), np.diff(HANDS[4], axis=1) > 0]


def test_chances_add_up_and_what_is_laid_costs_nothing(table):
    for chances, costs in ((table.lead_chance[None], table.lead_cost[None]), (table.answer_chance, table.answer_cost)):
        assert (chances.astype(float) * first_of_rank()).sum(axis=2) == pytest.approx(1, abs=0.005)
        assert (costs >= 0).all()
        assert (costs.min(axis=2) == 0).all()
    assert (table.lead_cost.astype(float) * (table.lead_chance > 0.2)).mean() < 0.005
    held = (HANDS[4][:, :, None] == np.arange(13)).sum(axis=1)
    possible = held.max(axis=1) < 4
    assert table.led.sum(axis=0)[possible] == pytest.approx(1, abs=1e-3)
    assert (table.led.T[held == 4] == 0).all()


def test_the_shares_of_leads_are_the_same_from_both_sides(table):
    """Pone leads a rank as often by its own hands as by the dealer's."""
    for led, answered in zip(lead_habits(table), answer_habits(table)):
        assert led[0] == pytest.approx(answered[0], abs=1e-3)
    assert sum(share for share, *_ in lead_habits(table)) == pytest.approx(1, abs=1e-3)


def test_a_five_is_never_led_and_pairs_are_answered(table):
    five = hand_number((4, 9, 10, 11))
    assert table.lead_chance[five, 0] < 0.001
    assert table.lead_cost[five, 0] > 0.3
    assert table.answer_chance[9, five, 0] > 0.9  # fifteen on a ten


def test_the_values_are_those_of_the_game(table):
    """In the mean over all hands pone loses what the dealer earns in equilibrium."""
    sets = np.array([np.prod([(1, 4, 6, 4, 1)[n] for n in np.bincount(hand, minlength=13)]) for hand in HANDS[4]])
    assert np.average(table.lead_value, weights=sets) == pytest.approx(-1.3629, abs=0.006)
    answered = np.average(table.answer_value, weights=table.led * sets)
    assert answered == pytest.approx(1.3629, abs=0.006)


def test_the_command_shows_a_hand_in_any_form(capsys):
    leads(("4C", "4D", "5H", "6S"))
    first = capsys.readouterr().out
    assert re.search(r"4 +100% +-0\.\d\d +0", first)
    leads(("6s4d4c5h",))
    assert capsys.readouterr().out == first
    leads(("4C", "4D", "5H", "6S"), dealer=True)
    out = capsys.readouterr().out
    assert re.search(r"5 +never", out)
    assert len([line for line in out.splitlines() if line.strip()[:1] in tuple(RANKS) and "%" in line]) == 12
    with refused("4C 4D"):
        leads(("4C", "4D"))


def test_the_findings_page_has_the_figures_of_the_table(table):
    """Each row of its tables of rules: how often the rule applies and is kept, what keeping and breaking it cost."""
    page = (ROOT / "docs" / "findings.md").read_text()
    for one in (*tally(rules_for_leads(), leads_found(table)), *tally(rules_for_answers(), answers_found(table))):
        cells = (f"{one.applies:.1%}", f"{one.kept:.0%}", f"{one.keeping:.2f}", f"{one.breaking:.2f}")
        assert f"| {one.says} | {' | '.join(cells)} |" in page, one
