"""The page under attack: races, links to nothing, full disks, files that cannot be moved, idle connections."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.play.given_deals import imported
from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.saved_game import AGENT, FINISHED, PERSON, GameSoFar, SavedGame
from crib_env.evaluate.play.sitting import in_thread
from tests.full_disk import full_disk
from tests.helpers.page import Page, served_page
from tests.helpers.players import remembering

SLOW = "ismcts:iterations=10000000"


@pytest.fixture
def page(tmp_path):
    with served_page(tmp_path) as page:
        yield page


def file_of(page, state):
    return page.games._folder / f"{state['game']}.json"


def put(folder, agent, n_cards=60):
    """Keeps a game of ``greedy``, at a decision of the person, as one of another agent; its id."""
    game = SavedGame.begin_in(GameSoFar("greedy", 1, AGENT, (0, 0), ()), folder)
    while len(game.played) < n_cards or game.turn != PERSON:
        game.play(game.agents_card() if game.turn == AGENT else int(game.view().action_mask[0].argmax()))
    game.delete()
    (folder / "20200101-000000.json").write_text(json.dumps({**asdict(game.so_far), "agent": agent}))
    return "20200101-000000"


def test_a_kept_game_opens_without_the_thoughts_of_an_agent_that_remembers_nothing(page, monkeypatch):
    name = put(page.games._folder, SLOW)
    monkeypatch.setattr(SavedGame, "agents_card", lambda game: pytest.fail("it thinks"))
    status, state = page.ask("look", game=name)
    assert (status, state["agent"]) == (200, SLOW)
    assert state["at"] >= 60


def test_an_agent_that_remembers_sees_its_game_again(page, tmp_path):
    state = page.play_on(page.begin(remembering(tmp_path), seed=3), 12)[-1]
    with served_page(page.games._folder / "other") as other:
        file_of(other, state).write_bytes(file_of(page, state).read_bytes())
        again = other.ask("look", game=state["game"])[1]
        assert other.play_on(again, 8)[-1]["frames"][-1] == page.play_on(state, 8)[-1]["frames"][-1]


def test_the_first_screen_does_not_wait_for_a_game_that_takes_long_to_open(page, monkeypatch):
    name = put(page.games._folder, "greedy")
    real, begun, may_go_on = SavedGame.resume, threading.Event(), threading.Event()

    def resume(*arguments):
        begun.set()
        assert may_go_on.wait(60)
        return real(*arguments)

    monkeypatch.setattr(SavedGame, "resume", resume)
    with ThreadPoolExecutor() as pool:
        looks = [pool.submit(page.ask, "look", game=name) for _ in range(3)]
        try:
            assert begun.wait(60)
            assert page.ask("lobby")[0] == 200
            assert not any(look.done() for look in looks)
        finally:
            may_go_on.set()
        assert [look.result()[0] for look in looks] == [200] * 3


def test_the_first_interrupt_ends_the_server_while_an_agent_thinks(tmp_path):
    command = [sys.executable, "-u", "-m", "crib_env.evaluate", "play", SLOW, "--no-browser"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            page = Page(None, re.search(r"http://\S+", process.stdout.readline())[0])
            asked = in_thread(lambda: page.new(SLOW, dealer="me", seed=4, coach="off"))
            while not list(tmp_path.glob("runs/play/*.json")) and not asked.done():
                threading.Event().wait(0.1)
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 130
        finally:
            process.kill()
    assert len(list(tmp_path.glob("runs/play/*.json"))) == 1


def test_a_game_that_is_deleted_stays_so_whatever_else_is_asked_of_it(page):
    state = page.begin(practice=True)
    fields = {
        "delete": {},
        "look": {},
        "notes": {},
        "play": {"at": state["at"], "cards": state["frames"][-1]["sides"][PERSON]["legal"][:2]},
        "set": {"coach": "off"},
        "back": {"at": state["at"]},
    }
    with ThreadPoolExecutor(20) as pool:
        with page.games._lock:  # all wait for the game
            asked = [pool.submit(page.ask, name, game=state["game"], **fields[name]) for name in [*fields] * 3]
            threading.Event().wait(0.5)
        answers = [one.result() for one in asked]
    assert {status for status, _ in answers} <= {200, 400, 409}
    assert sum(answer == (200, {}) for answer in answers) == 1
    assert not list(page.games._folder.glob("*.json"))
    assert page.ask("look", game=state["game"])[0] == 400


def test_the_first_screen_lists_games_beside_links_to_nothing(page):
    waiting, folder = page.begin(), page.games._folder
    for k in range(40):
        (folder / f"29990101-0000{k:02}.json").symlink_to(folder / "nothing")
    status, lobby = page.ask("lobby")
    assert (status, [row["game"] for row in lobby["waiting"]]) == (200, [waiting["game"]])


def test_a_finished_game_that_cannot_be_put_away_is_recorded_once(page):
    state = page.play_on(page.begin(scores=[110, 100]), 1)[-1]
    in_its_way = page.games._folder / FINISHED / file_of(page, state).name
    in_its_way.mkdir()
    game, status = state["game"], 200
    while status == 200:
        cards = state["frames"][-1]["sides"][PERSON]["legal"][: state["choose"]]
        status, state = page.ask("play", game=game, at=state["at"], cards=cards)
    assert status == 507
    assert [page.ask("look", game=game)[0] for _ in range(3)] == [507] * 3
    page.games.close()
    with served_page(page.games._folder) as other:
        assert [other.ask("look", game=game)[0] for _ in range(3)] == [507] * 3
        in_its_way.rmdir()
        assert other.ask("look", game=game)[0] == 200
    assert len(read_records(page.games._record)) == 1
    assert in_its_way.is_file()


def test_a_new_game_that_cannot_be_kept_leaves_no_file(page):
    page.begin()
    before = sorted(page.games._folder.rglob("*"))
    with full_disk(0):
        status, answer = page.new()
    assert (status, "cannot be kept" in answer["error"]) == (507, True)
    assert sorted(page.games._folder.rglob("*")) == before


def test_what_cannot_be_kept_does_not_happen(page):
    """Every message of a deal and more is sent on a full disk first."""
    state = page.begin("erring:errs=5", seed=2)
    for _ in range(25):
        cards = state["frames"][-1]["sides"][PERSON]["legal"][: state["choose"]]
        message = {"game": state["game"], "at": state["at"], "cards": cards}
        before, (_, shown) = file_of(page, state).read_bytes(), page.ask("look", game=state["game"])
        with full_disk(10):
            refusals = page.ask("play", **message), page.ask("set", game=state["game"], coach="off")
        assert [status for status, _ in refusals] == [507, 507]
        assert file_of(page, state).read_bytes() == before
        assert page.ask("look", game=state["game"])[1] == shown
        status, state = page.ask("play", **message)
        assert status == 200


def test_a_card_is_not_taken_back_on_a_full_disk(page):
    state = page.play_on(page.begin(practice=True), 3)[-1]
    with full_disk(10):
        assert page.ask("back", game=state["game"], at=state["at"])[0] == 507
    assert page.play_on(state, 1)[-1]["at"] > state["at"]
    with served_page(page.games._folder) as other:
        assert "is in use" in other.ask("look", game=state["game"])[1]["error"]


def test_a_finished_game_is_not_played_on(page, tmp_path):
    """Neither one of practice nor an imported one; a rematch of that is against its opponent, with other deals."""
    over = page.play_on(page.begin(practice=True, scores=[110, 100], seed=3))[-1]
    line = a_game(tmp_path)
    brought = page.ask("bring", line=line)[1]
    for state in (over, brought):
        file = page.games._folder / FINISHED / f"{state['game']}.json"
        before = file.read_bytes()
        assert (state["over"], state["undo"]) == (True, False)
        for name, more in (("back", {}), ("play", {"cards": ["5H"]})):
            status, _ = page.ask(name, game=state["game"], at=state["at"], **more)
            assert status in (400, 409)
        assert page.ask("look", game=state["game"])[1]["over"]
        assert file.read_bytes() == before
    assert len(page.ask("lobby")[1]["finished"]) == 2
    again = page.kept(page.ask("rematch", game=brought["game"])[1]).so_far
    assert (again.agent, again.deals, again.opponent, again.practice) == ("greedy", (), "", False)
    tried = page.ask("again", game=brought["game"], at=0)[1]
    assert page.kept(tried).so_far.deals == imported(line).deals


def test_undo_takes_choices_back_one_by_one_and_is_offered_for_nothing_else(page):
    assert not page.play_on(page.begin(seed=4), 2)[-1]["undo"]
    state = page.play_on(page.begin(practice=True, dealer="agent", seed=4), 12)[-1]
    n_choices = 0
    while state["undo"]:
        found = page.do("back", state)
        assert found["at"] < state["at"]
        assert len(found["frames"][-1]["sides"][PERSON]["legal"]) > 1
        state, n_choices = found, n_choices + 1
    assert n_choices > 3
    assert not {played.seat for played in page.kept(state).played} & {PERSON}
    assert page.ask("back", game=state["game"], at=state["at"])[0] == 400


def a_game(folder, agent="greedy"):
    """A line of a finished game."""
    game = SavedGame.begin_in(GameSoFar(agent, 1, AGENT, (110, 100), ()), folder)
    while not game.is_over:
        game.play(game.agents_card() if game.turn == AGENT else int(game.view().action_mask[0].argmax()))
    return game.record().to_line()


@pytest.mark.parametrize("name", ["td", "llm", "strategy-weights", "pipe", "human", "a" * 3_000, "os:system", ""])
def test_a_game_against_anybody_can_be_tried_again(tmp_path, name):
    line = json.dumps({**json.loads(a_game(tmp_path)), "players": ["human", name]})
    so_far = imported(line)
    assert (so_far.agent, so_far.opponent) == ("best", name)
    assert SavedGame.begin_in(so_far, tmp_path).is_over
    for other in ("greedy", "expert"):
        assert imported(json.dumps({**json.loads(line), "players": [other, "human"]})).agent == other


def test_an_imported_game_is_against_the_level_that_it_was_played_with(page, tmp_path):
    for level in LEVELS[:3]:
        line = a_game(tmp_path, level.agent)
        assert imported(line).agent == level.agent
        assert page.ask("bring", line=line)[1]["name"] == level.name


@pytest.mark.parametrize("name", ["a" * 3_000, "td:" + "a" * 3_000, "ddqn:path=" + "a/" * 1_500, "runs/" + "a" * 300])
def test_a_long_name_of_an_agent_is_refused_as_one(page, name):
    status, answer = page.new(name)
    assert status == 400
    assert "aaa" in answer["error"] or "a/a" in answer["error"]


def test_games_begun_at_once_have_files_of_their_own(page):
    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(lambda _: page.begin(), range(16)))
    assert len({state["game"] for state in states}) == 16 == len(list(page.games._folder.glob("*.json")))
    assert not os.path.exists(page.games._record)
