"""What an equilibrium of whole deals discards, and what rules of thumb cost against it."""

from pathlib import Path

import numpy as np
import pytest

from crib_env.agents.equilibrium import load_blueprint
from crib_env.engine import DEALER, PONE, ROLES
from crib_env.exact.deal_classes import cards_of
from crib_env.tables.outlook import discard_points
from crib_env.tables.shipped import standard_deals
from docs.rules_of_thumb import discards_found, overall, pairs_discarded

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def found():
    values, chances = standard_deals(), load_blueprint().discards
    return {role: discards_found(values, chances[role], role) for role in (PONE, DEALER)}


@pytest.mark.parametrize("role", [PONE, DEALER])
def test_the_solution_discards_what_costs_least(found, role):
    """In the mean over all deals it loses less than half of its distance from an equilibrium."""
    made = overall(role, found[role], standard_deals())
    assert 0 <= made["loss"] < standard_deals().responses.sum() / 2
    assert 7.5 < made["hand"] < 8.5
    assert 4 < made["crib"] < 5.5
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


def test_pages_say_how_far_the_solution_is_from_an_equilibrium():
    responses = standard_deals().responses
    pages = ("README.md", "docs/casebook.md", "docs/findings.md", "docs/benchmarks/solved-play.md")
    for page in pages:
        assert f"{responses.sum():.3f}" in (ROOT / page).read_text(encoding="utf-8"), page
    bounds = f"{-responses[PONE]:.3f} and {responses[DEALER]:.3f}"
    assert bounds in (ROOT / "docs/benchmarks/solved-play.md").read_text(encoding="utf-8")
    bounds = f"{-responses[PONE]:.2f} to {responses[DEALER]:.2f} points"
    for page in ("README.md", "docs/benchmarks/learners.md"):
        assert bounds in " ".join((ROOT / page).read_text(encoding="utf-8").split()), page


@pytest.mark.slow  # half a minute: the exact tables' choices of all deals
@pytest.mark.parametrize("role", [PONE, DEALER])
def test_what_the_exact_tables_discards_lose_to_the_solution(found, role):
    """By which `expert` discards away from the end: how often it makes the solution's most frequent choice."""
    of_role, rows = found[role], np.arange(len(found[role].weights))
    chosen = discard_points(cards_of(rows), np.full(len(rows), role == DEALER)).argmax(axis=1)
    agrees = of_role.chances.argmax(axis=1) == chosen
    agreement, loss = (np.average(one, weights=of_role.weights) for one in (agrees, of_role.costs[rows, chosen]))
    print(f"{ROLES[role]}: the same in {agreement:.1%} of deals, loses {loss:.4f} points a deal")
    assert agreement > 0.8
    assert 0 < loss < 0.05
