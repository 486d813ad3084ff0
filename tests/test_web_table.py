"""The table without a server: the same answers as the server's, in Node."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import numpy as np
import pytest

from crib_env.evaluate.play.web import PLAYING
from tests.helpers import web_positions
from tests.helpers.web_table import NEEDS_SITE, SITE, SOURCE, TableHere, check_same, play_both, same, web_table

pytestmark = [pytest.mark.slow, NEEDS_SITE]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The table of the site, and that of this process."""
    with web_table(SITE) as there:
        yield there, TableHere(tmp_path_factory.mktemp("games"))


def in_both(tables, call: str):
    """What a function of ``web_positions`` returns there and here."""
    status, there = tables[0].ask("python", source=f"{SOURCE}\n{call}")
    assert status == 200
    return there, json.loads(eval(call, vars(web_positions)))


def test_a_thousand_games_are_the_same(tables):
    """The whole record of each game, after each card."""
    there, here = in_both(tables, "played(1_000, 3)")
    assert len(here[0]) == 1_000
    assert there == here


def test_ten_thousand_positions_are_the_same(tables):
    (seconds_there, there), (seconds_here, here) = in_both(tables, "judged(102, 3)")
    print({name: f"{seconds:.1f} s, there {seconds_there[name]:.1f} s" for name, seconds in seconds_here.items()})
    assert sum(len(cards[0]) for cards, _ in here) >= 10_000
    check_same(there, here)


@pytest.mark.parametrize("agent", sorted(PLAYING))
def test_every_opponent_and_the_coach_say_the_same(tables, agent):
    """Hints, comments with their losses, the line of chances, the review and the shared text."""
    play_both(tables, agent, 7, coach="before")
    play_both(tables, agent, 8, coach="before", scores=(100, 104))
    print({name: f"{1000 * np.quantile(times, 0.95):.0f} ms" for name, times in tables[0].seconds.items()})
    tables[0].seconds.clear()


def test_the_lesson_is_the_same(tables):
    there, here = (table.ask("lesson", theme="")[1]["positions"] for table in tables)
    assert there == here
    for position in here[:3]:
        cards = position["frame"]["sides"][0]["legal"][: position["choose"]]
        one, other = (table.ask("answer", theme="", position=position["id"], cards=cards) for table in tables)
        assert one[0] == 200
        assert same(one, other)


def test_the_deal_of_the_day_a_link_and_a_rush_are_the_same(tables):
    """Par, the text to share, and how a rush is judged and counted."""

    def ask(name, fields=({}, {})):
        found = [table.ask(name, **one) for table, one in zip(tables, fields)]
        assert [status for status, _ in found] == [200, 200], found
        return [content for _, content in found]

    states = ask("today")
    while not states[0]["over"]:
        cards = states[0]["frames"][-1]["sides"][0]["legal"][: states[0]["choose"]]
        states = ask("play", [{"game": one["game"], "at": one["at"], "cards": cards} for one in states])
        assert states[0]["frames"] == states[1]["frames"]
    for name in ("review", "share"):
        one, other = ask(name, [{"game": state["game"]} for state in states])
        assert same(one, other)
    whole = tables[1].ask("new", agent="greedy", dealer="cut", scores=[0, 0], seed=2, practice=False, coach="off")
    state = whole[1]
    while not state["over"]:
        cards = state["frames"][-1]["sides"][0]["legal"][: state["choose"]]
        state = tables[1].ask("play", game=state["game"], at=state["at"], cards=cards)[1]
    code = tables[1].ask("share", game=state["game"])[1]["code"]
    one, other = ask("bring", [{"line": code}] * 2)
    assert one["frames"] == other["frames"]
    for rush in ask("lesson", [{"theme": "rush"}] * 2):
        assert (len(rush["positions"]), rush["seconds"]) == (60, 180)
    one, other = ([chart["title"] for chart in found["charts"]] for found in ask("progress"))
    assert one == other


def test_what_the_first_visit_loads():
    """In MB: as it lies, what a server that compresses sends, and of each large file."""
    files = {path.name: path.read_bytes() for path in SITE.rglob("*") if path.is_file()}
    stored = sum(map(len, files.values())) / 1e6
    sizes = Counter({name: len(gzip.compress(content)) / 1e6 for name, content in files.items()})
    print({name: round(size, 2) for name, size in sizes.most_common(7)}, f"{sizes.total():.1f} of {stored:.1f} in all")
    assert sizes.total() < 18
    assert stored < 25


def test_others_do_not_play(tables):
    form = {"dealer": "cut", "scores": [0, 0], "seed": 1, "practice": False, "coach": "on"}
    status, found = tables[0].ask("new", agent="llm:model=some", **form)
    assert status == 400
    assert "llm:model=some" in found["error"]
