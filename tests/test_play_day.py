"""The deal of a day: the same cards for all, against par, and a result that is shared without its cards."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from crib_env.agents.baselines import RandomAgent
from crib_env.evaluate.commands.play import play
from crib_env.evaluate.play.given_deals import deal_of, par_of
from crib_env.evaluate.play.page import games as games_of_the_page
from crib_env.evaluate.play.saved_game import SavedGame
from crib_env.evaluate.skill.analysis.judges import play_judge
from tests.helpers.page import served_page
from tests.helpers.refusals import refused

DAY = date(2026, 1, 31)


class That(date):
    """Every day is this one."""

    @classmethod
    def today(cls):
        return DAY


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(games_of_the_page, "date", That)
    with served_page(tmp_path / "one") as page:
        yield page


def test_two_servers_deal_the_same_cards_on_the_same_day(page, tmp_path):
    begun = page.ask("today")[1]
    with served_page(tmp_path / "other") as other:
        found = other.ask("today")[1]
        ends = [one.play_on(state)[-1] for one, state in ((page, begun), (other, found))]
    assert found["frames"] == begun["frames"]
    assert ends[0]["frames"] == ends[1]["frames"]
    days = [
        SavedGame(deal_of(DAY + timedelta(days=k)), RandomAgent(0), tmp_path).games["cards"].tolist() for k in range(9)
    ]
    assert all(days.count(deal) == 1 for deal in days)


def test_it_is_over_after_one_deal_and_begun_once(page):
    begun = page.ask("today")[1]
    states = page.play_on(page.play_on(begun, 2)[-1])
    assert page.ask("today")[1]["game"] == states[-1]["game"] == begun["game"]
    last = states[-1]["frames"][-1]
    assert (last["deal"], last["counted"]["crib"]) == (1, True)
    assert page.ask("lobby")[1]["finished"][0]["day"] == DAY.isoformat()
    assert not page.games._record.exists()
    page.ask("review", game=begun["game"])
    assert page.ask("progress")[1]["rows"] == []
    again = page.do("again", {**states[-1], "at": page.kept(states[-1]).decisions()[0]})
    assert page.play_on(again)[-1]["frames"][-1]["deal"] == 1
    assert page.ask("today")[1]["game"] == begun["game"]
    rematch = page.ask("rematch", game=begun["game"])[1]
    assert rematch["day"] == ""


def test_the_coach_says_nothing_before_its_end(page):
    state = page.ask("today")[1]
    for name, fields in (("hint", {"at": state["at"]}), ("set", {"coach": "before"})):
        status, found = page.ask(name, game=state["game"], **fields)
        assert (status, "before its end" in found["error"]) == (400, True)
    assert page.ask("notes", game=page.play_on(state, 1)[-1]["game"])[1]["notes"] == []


def test_par_is_what_the_coachs_choices_come_to(page):
    """By its hints in a practice game of the same seed, which goes on after the deal."""
    start = deal_of(DAY)
    state = page.begin(start.agent, seed=start.seed, practice=True)
    while state["frames"][-1]["deal"] == 1:
        hint = page.do("hint", state)
        state = page.do("play", state, cards=hint["cards"])
    par = par_of(DAY.isoformat(), play_judge())
    assert par == tuple(side["score"] for side in state["frames"][-1]["sides"])
    today = page.play_on(page.ask("today")[1])[-1]
    rows = {title: cells for title, *cells in page.ask("review", game=today["game"])[1]["rows"]}
    own, other = (side["score"] for side in today["frames"][-1]["sides"])
    assert rows["points"] == [str(own), str(other)]
    assert int(rows["against par"][0]) == own - other - (par[0] - par[1])


def test_the_text_to_share_names_no_card(page):
    state = page.play_on(page.ask("today")[1])[-1]
    shared = page.ask("share", game=state["game"])[1]
    assert shared["line"] == shared["code"] == ""
    text = shared["text"].replace(DAY.isoformat(), "")
    assert not re.search(r"[A2-9TJQK][CDHS]|[♣♦♥♠]|clubs|diamonds|hearts|spades", text)
    assert len(text.splitlines()[-1]) == len(page.ask("notes", game=state["game"])[1]["notes"])


def test_its_file_is_one_deal_when_it_is_read_again_and_not_for_the_terminal(tmp_path, monkeypatch):
    game = SavedGame.begin_in(deal_of(DAY), tmp_path)
    game.close()
    found = SavedGame.resume(game.file, None)
    assert found.so_far == deal_of(DAY)
    found.close()
    monkeypatch.chdir(tmp_path)
    with refused("the deal of a day"):
        play(terminal=True, resume=game.file)
