"""Muggins by messages of the page and in a browser: nothing is told before its time, all is kept."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from crib_env import format_card
from crib_env.engine import CRIB, EVENTS
from crib_env.evaluate.matches.game_records import GameRecord, read_records
from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.saved_game import AGENT, PERSON
from crib_env.picture.seen import card_name
from tests.helpers.hidden_cards import cards_of
from tests.helpers.page import served_page
from tests.helpers.tab import NEEDS_CHROMIUM, Tab, check_by_axe, wrong_places

NEWCOMER = LEVELS[0].agent


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served_page(tmp_path_factory.mktemp("play"), NEWCOMER) as page:
        yield page


def asked(state):
    return state["frames"][-1].get("asks")


def go_on(page, state, rng):
    """The first cards; of own hands some points are missed, of the agent's what is missed is claimed or not."""
    if not (asks := asked(state)):
        return page.do("play", state, cards=state["frames"][-1]["sides"][0]["legal"][: state["choose"]])
    hand = page.kept(state).show.hand
    exact = hand.points - (asks["said"] or 0)
    points = exact if rng.random() < 0.5 else int(rng.integers(0, exact + 2))
    return page.do("count", state, counted=asks["counted"], points=points)


def check_hidden(game, state):
    """What is asked about says nothing of its worth, and the agent's discards stay hidden until the crib is asked."""
    asks, frame = asked(state), state["frames"][-1]
    assert (frame["counted"], frame["caption"], frame["said"]) == (None, "", [])
    assert {*asks} == {"seat", "crib", "said", "counted"}
    assert (asks["said"] is None) == (asks["seat"] == PERSON)
    scores = [side["score"] for side in frame["sides"]]
    assert scores == game.games["scores"][0].tolist()
    counted = [one["counted"] for one in state["frames"] if one["counted"] and one["deal"] == frame["deal"]]
    assert len(counted) <= asks["counted"]
    if asks["crib"]:
        return
    text = json.dumps(state)
    for card in cards_of(game.games["discards"][0, AGENT]):
        assert not re.search(rf'"{format_card(card)}"|\b{card_name(card)}\b', text)


def test_a_whole_game_with_muggins_says_nothing_before_its_time(page):
    state, rng, told = page.begin(NEWCOMER, counting="muggins", seed=5), np.random.default_rng(5), set()
    game = page.kept(state)
    while not state["over"]:
        if asks := asked(state):
            assert state["choose"] == 0
            check_hidden(game, state)
            check_hidden(game, page.ask("look", game=state["game"])[1])
            assert page.ask("hint", game=state["game"], at=state["at"])[0] == 400
            assert page.ask("play", game=state["game"], at=state["at"], cards=["5H"])[0] == 400
            before, message = game.games["scores"][0].copy(), {"counted": asks["counted"], "points": 0}
            other = {**message, "counted": asks["counted"] + 1}
            assert page.ask("count", game=state["game"], at=state["at"], **other)[0] == 409
            np.testing.assert_array_equal(game.games["scores"][0], before)
        state = go_on(page, state, rng)
        if asks:
            first = state["frames"][0]
            assert first["counted"]["crib"] == asks["crib"]
            assert first["counted"]["seat"] == asks["seat"]
            told.add(re.sub(r"\d+", "#", state["told"]))
            if first["counted"]["missed"]:
                assert (
                    f"missed {first['counted']['missed']} of {first['counted']['points']}" in first["counted"]["told"]
                )
    assert {
        "# is right",
        "# is too many: it is #",
        "muggins! You counted # of #: Newcomer pegs #",
        "muggins! Newcomer counted # of #: you peg #",
    } <= told
    record = read_records(page.games._record)[-1]
    assert record.scores == tuple(side["score"] for side in state["frames"][-1]["sides"])
    assert {one.claimed < one.points for one in record.missed} == {False, True}
    check_what_is_left(page, state, record)


def check_what_is_left(page, state, record):
    """The review, progress, the shared line and another try of a finished game."""
    review = page.ask("review", game=state["game"])[1]
    shown = [frame["counted"] for frame in review["frames"] if frame["counted"]]
    assert sum(one["missed"] for one in shown) == sum(one.points for one in record.missed)
    shared = page.ask("share", game=state["game"])[1]
    assert GameRecord.of_line(shared["line"]) == record
    brought = page.ask("bring", line=shared["line"])[1]
    assert [side["score"] for side in brought["frames"][-1]["sides"]] == list(record.scores)
    at = next(k for k in page.kept(state).decisions() if k > len(page.kept(state).played) // 2)
    again = page.do("again", {**state, "at": at})
    assert again["counting"] == "muggins"
    assert page.kept(again).games["scores"][0].tolist() == page.kept(state).played[at].before["scores"][0].tolist()


def owner_of(record, missed):
    dealer = (record.first_dealer + missed.deal - 1) % 2
    return 1 - dealer if missed.hand == EVENTS[CRIB - 2] else dealer


def until_asked(page, state, n=1):
    """The state when the person is asked for the n-th time."""
    rng = np.random.default_rng(0)
    while True:
        n -= bool(asked(state))
        if n == 0:
            return state
        state = go_on(page, state, rng)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_count_that_was_begun_goes_on_in_another_server(n, tmp_path):
    with served_page(tmp_path, NEWCOMER) as page:
        state = until_asked(page, page.begin(NEWCOMER, counting="muggins", seed=4), n)
    with served_page(tmp_path, NEWCOMER) as page:
        found = page.ask("look", game=state["game"])[1]
        assert found["frames"][-1] == state["frames"][-1]
        assert page.ask("lobby")[1]["waiting"][0]["scores"] == [side["score"] for side in found["frames"][-1]["sides"]]
        assert asked(go_on(page, found, np.random.default_rng(0))) != asked(state)


def test_the_settings_end_a_count(page):
    state = until_asked(page, page.begin(NEWCOMER, counting="muggins", seed=4))
    assert page.ask("set", game=state["game"], coach="on", counting="table")[0] == 200
    found = page.ask("look", game=state["game"])[1]
    assert not asked(found)
    assert found["choose"] > 0
    assert page.kept(state).show is None


def test_the_last_card_is_taken_back_before_it_is_counted(page):
    state = until_asked(page, page.begin(NEWCOMER, counting="muggins", seed=4, practice=True), 2)
    found = page.do("back", state)
    assert found["choose"] == 1
    assert page.kept(found).so_far.missed == ()
    assert asked(until_asked(page, found))["counted"] == 0


PARTS = "#board, .plate, #mine .hand .card, #said, #actions > *, #talk, #guess button, #verdict"
ASKED = "#game[data-turn=count] #guess"


def waits_for(page):
    """What the page waits for: to count, a card, a press of its button, or nothing more."""
    turns = "#game[data-turn=discard], #game[data-turn=play], #game[data-turn=over]"
    page.wait_for_selector(f"{turns}, {ASKED}, #do:not([disabled]):visible")
    if page.locator(ASKED).count():
        return "count"
    if page.locator("#game[data-turn=over]").count():
        return "nothing"
    return "press" if page.locator("#do:not([disabled]):visible").count() else "card"


def press_on(page, what):
    """Presses the button, or takes the first card."""
    first = "#mine .hand button:not([disabled]):not([aria-pressed=true])"
    page.locator("#do" if what == "press" else first).first.click()
    page.wait_for_timeout(20)


@pytest.mark.slow
@NEEDS_CHROMIUM
@pytest.mark.parametrize(("size", "scheme"), [((390, 700), "light"), ((390, 700), "dark"), ((1366, 640), "light")])
def test_the_second_half_of_a_game_with_muggins_in_a_browser(size, scheme, browser, page):
    """Every count fits the window, axe finds nothing, and the table is the engine's at the end."""
    told = []
    width, height = size
    tab = Tab(browser, page.url, viewport={"width": width, "height": height}, color_scheme=scheme)
    tab.begin(agent=NEWCOMER, counting="muggins", seed=6, own=60, theirs=60)
    shown = tab.page
    while (what := waits_for(shown)) != "nothing":
        if what != "count":
            press_on(shown, what)
            continue
        assert not wrong_places(shown, True, PARTS)
        if len(told) < 3:
            check_by_axe(shown)
        shown.click("#guess [aria-label='2 points']")
        shown.wait_for_selector("#verdict, #game[data-turn=over]")
        assert not wrong_places(shown, True, PARTS)
        told.append(shown.inner_text("#said") if waits_for(shown) == "nothing" else shown.inner_text("#verdict"))
    assert {"Muggins! You counted", "Muggins! Newcomer counted"} <= {" ".join(one.split()[:3]) for one in told}
    record = read_records(page.games._record)[-1]
    shown.wait_for_selector("#coach table", state="attached")
    assert tab.scores() == record.scores
    assert record.missed
    tab.close()


@NEEDS_CHROMIUM
def test_hands_are_counted_by_keys_alone(browser, page):
    """Enter agrees or goes on; a digit goes to its number, where Enter claims it. A reload asks again."""
    tab, said = Tab(browser, page.url), []
    tab.begin(agent=NEWCOMER, counting="muggins", seed=5, dealer="agent", coach="off")
    shown = tab.page
    while len(said) < 3:
        if (what := waits_for(shown)) != "count":
            press_on(shown, what)
            continue
        if not said:
            shown.reload()
            shown.wait_for_selector(ASKED)
        for key in (["2", "Enter"], ["2", "Enter"], ["Enter"])[len(said)]:
            shown.keyboard.press(key)
        shown.wait_for_selector("#verdict")
        said.append(re.sub(r"\d+", "#", shown.inner_text("#verdict")))
        shown.keyboard.press("Enter")
        shown.wait_for_selector("#verdict", state="detached")
    assert said == [
        "Muggins! You counted # of #: Newcomer pegs #.",
        "Muggins! Newcomer counted # of #: you peg #.",
        "Newcomer counted # of #: nobody pegs the rest.",
    ]
    tab.close()
