"""What an equilibrium of whole deals discards, and what rules of thumb cost against it."""

from pathlib import Path

import numpy as np
import pytest

from crib_env.agents.equilibrium.blueprint import load_blueprint
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.commands.discard import discard, in_equilibrium
from crib_env.evaluate.rules_for_discards import pairs_discarded, solved, tally_discards
from crib_env.exact.deal_classes import N_DEALS, class_sizes
from crib_env.tables.deal_values import DealValues
from crib_env.tables.standard import standard_deals

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 10  # pairs in the tables of the page


@pytest.fixture(scope="module")
def found():
    values, chances = standard_deals(), load_blueprint().discards
    return {role: solved(values, chances[role], role) for role in (PONE, DEALER)}


@pytest.mark.parametrize("role", [PONE, DEALER])
def test_the_solution_discards_what_costs_least(found, role):
    """In the mean over all deals it loses less than half of its distance from an equilibrium."""
    loss = class_sizes() @ (found[role].chances * found[role].costs).sum(axis=1).astype(float) / N_DEALS
    assert 0 <= loss < standard_deals().responses.sum() / 2
    assert found[role].chances.sum(axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("role", [PONE, DEALER])
def test_all_discards_have_shares(found, role):
    rows = pairs_discarded(role, found[role], standard_deals())
    assert len(rows) == 91
    assert sum(row.share for row in rows) == pytest.approx(1)
    shares = {row.ranks: row.when_held for row in rows}
    # a pair of fives goes to the own crib alone, and a ten with a king to the other's
    assert shares["5 5"] > 0.05 if role == DEALER else shares["5 5"] < 0.01
    assert (shares["T K"] > 0.3) == (role == PONE)


def test_the_page_has_the_figures(found):
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    for role in (PONE, DEALER):
        for tally in tally_discards(role, found[role]):
            cells = (f"{tally.applies:.1%}", f"{tally.kept:.0%}", f"{tally.keeping:.2f}", f"{tally.breaking:.2f}")
            assert f"| {tally.says} | {' | '.join(cells)} |" in page, tally
        for row in pairs_discarded(role, found[role], standard_deals())[:SHOWN]:
            assert f"| {row.ranks} | {row.share:.1%} | {row.when_held:.0%} | {row.crib:.2f} |" in page, row


def test_the_command_shows_habits_and_single_deals(capsys):
    discard(dealer=True)
    out = capsys.readouterr().out
    assert "7 8" in out
    assert "keep three in a row" in out
    assert in_equilibrium([1, 2, 8, 9, 10, 11], dealer=False).startswith("in equilibrium, for points: 9C QC 100%; then")


def test_a_table_is_read_back(tmp_path):
    values = standard_deals()
    values.save(tmp_path / "deals.npz")
    again = DealValues.load(tmp_path / "deals.npz")
    assert all(np.array_equal(one, other) for one, other in zip(values, again))
    with pytest.raises(ValueError, match="there is no table of whole deals"):
        DealValues.load(tmp_path / "none.npz")
