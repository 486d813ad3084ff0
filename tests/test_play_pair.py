"""Two people at one machine: nobody is sent a card that the other holds, and each sees the hand only in the seat."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from crib_env import format_card
from crib_env.engine import DISCARD
from crib_env.evaluate.play.progress import read_progress
from crib_env.picture.seen import card_name
from tests.helpers.hidden_cards import cards_of
from tests.helpers.page import served_page

PEOPLE = ["Ann", "Bob"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served_page(tmp_path_factory.mktemp("play")) as page:
        yield page


def begin(page):
    status, state = page.ask("pair", people=PEOPLE)
    assert status == 200, state
    return state


def check_hidden(game, message, seats):
    """No card that these seats hold, or have put into the crib of this deal, nor the starter before the cut."""
    now = game.games[0]
    hidden = {card for seat in seats for card in cards_of(now["hand"][seat]) + cards_of(now["discards"][seat])}
    hidden |= {int(now["cards"][12])} if now["phase"] == DISCARD else set()
    text = json.dumps(message)
    named = {card for card in hidden if re.search(rf'"{format_card(card)}"|\b{card_name(card)}\b', text)}
    assert not named
    return len(hidden)


def test_a_whole_game_sends_nobody_a_card_of_the_other(page):
    state, n_taken, n_checked = begin(page), 0, 0
    game = page.kept(state)
    while not state["over"]:
        deal = game.games["n_deals"][0]
        if state["take"]:
            seat = game.turn
            assert state["take"] == PEOPLE[seat]
            assert state["choose"] == 0
            check_hidden(game, state["frames"][-1], (0, 1))
            check_hidden(game, page.ask("look", game=state["game"])[1], (0, 1))
            assert page.ask("play", game=state["game"], at=state["at"], cards=["5H"])[0] == 400
            state = page.do("take", state)
            n_taken += 1
        assert (state["you"], state["name"]) == (PEOPLE[seat], PEOPLE[1 - seat])
        of_deal = [frame for frame in state["frames"] if frame["deal"] == deal]
        n_checked += check_hidden(game, of_deal, (1 - seat,))
        for name, fields in (("notes", {"game": state["game"]}), ("progress", {}), ("lobby", {})):
            check_hidden(game, page.ask(name, **fields)[1], (0, 1))
        for name, more in (("hint", {}), ("set", {"coach": "on"}), ("back", {})):
            assert (
                page.ask(name, game=state["game"], **({} if name == "set" else {"at": state["at"]}), **more)[0] == 400
            )
        state = page.do("play", state, cards=state["frames"][-1]["sides"][0]["legal"][: state["choose"]])
        now = [frame for frame in state["frames"] if frame["deal"] == game.games["n_deals"][0]]
        if not state["over"]:
            check_hidden(game, now, (1 - seat,) if game.games["n_deals"][0] == deal else (0, 1))
            assert bool(state["take"]) == (game.turn != seat or game.games["n_deals"][0] != deal)
    assert n_taken > 30
    assert n_checked > 300


def test_a_finished_game_is_looked_through_and_counts_for_nobody(page):
    state = begin(page)
    while not state["over"]:
        state = page.do("take", state) if state["take"] else state
        state = page.do("play", state, cards=state["frames"][-1]["sides"][0]["legal"][: state["choose"]])
    assert page.ask("review", game=state["game"])[0] == 200
    assert '"players": ["Ann", "Bob"]' in page.ask("share", game=state["game"])[1]["line"]
    assert read_progress(page.games._folder) == []
    assert not page.games._record.exists()
    row = next(row for row in page.ask("lobby")[1]["finished"] if row["game"] == state["game"])
    assert row["name"] == "Ann and Bob"
    again = page.ask("rematch", game=state["game"])[1]
    assert again["take"] in PEOPLE
    assert page.ask("again", game=state["game"], at=0)[0] == 400


@pytest.mark.parametrize("people", [["", "B"], ["A", "A"], ["A" * 21, "B"], ["A\n", "B\u0000"]])
def test_other_names_are_refused(page, people):
    status, found = page.ask("pair", people=people)
    assert status == 400
    assert "people=" in found["error"]
    assert "give two different names, up to 20 letters" in found["error"]
