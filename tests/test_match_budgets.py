"""Strength against budget: matches once played are kept, and bad plans are named."""

import json

import pytest

from crib_env.agents import make_agent
from crib_env.evaluate.commands.match_budgets import Plan, budgets, play_curves
from crib_env.evaluate.matches.match import play_match
from tests.helpers.refusals import refused

PLAN = Plan(("random:seed={}",), (3, 4), "greedy", 10, 1)


def test_each_point_equals_the_match_played_alone_and_is_kept(tmp_path):
    file = tmp_path / "curve.json"
    first = play_curves(PLAN, file)
    alone = play_match(make_agent("random:seed=3"), make_agent("greedy"), 10, 1)
    assert first["random:seed={}"][0].wins == alone.wins
    assert first["random:seed={}"][0].margin == alone.margin

    found = json.loads(file.read_text())
    del found["matches"]["random:seed=4"]  # as if it had been stopped there
    found["matches"]["random:seed=3"]["seconds"] = 12345.0
    file.write_text(json.dumps(found))
    again = play_curves(PLAN, file)["random:seed={}"]
    assert again[0].seconds == 12345.0  # not played again
    assert again[1].margin == first["random:seed={}"][1].margin


def test_it_draws(tmp_path):
    budgets(("random:seed={}",), (3, 4), tmp_path / "curve.json", games=10, picture=tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 5_000
    assert (tmp_path / "curve.svg").exists()


def test_a_file_of_other_curves_is_not_touched(tmp_path):
    file = tmp_path / "curve.json"
    play_curves(PLAN, file)
    before = file.read_text()
    with pytest.raises(ValueError, match="does not hold these curves"):
        play_curves(Plan(("random:seed={}",), (3,), "greedy", 10, 1), file)
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("agents", "budgets", "message"),
    [
        (("greedy",), (1,), "has no {}"),
        (("random:seed={}",), (), "needs agents and budgets"),
        (("ismcts:iterations={}",), (0,), "iterations"),
    ],
)
def test_bad_plans_are_named(agents, budgets, message):
    with refused(message):
        Plan(agents, budgets, "greedy", 10, 0)
