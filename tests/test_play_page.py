"""The server of the page: whole games by messages, nothing hidden in any, bad ones refused and the game unharmed."""

from __future__ import annotations

import json
import os
import re
import socket
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from crib_env import format_card
from crib_env.engine import DISCARD
from crib_env.evaluate.commands.play import play
from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.play import web
from crib_env.evaluate.play.coach import HOW
from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.page.as_json import latest_first
from crib_env.evaluate.play.page.games import COACH, COLD, READY, REVIEWS
from crib_env.evaluate.play.page.server import LARGEST, page_files
from crib_env.evaluate.play.page.warming import warmed_up
from crib_env.evaluate.play.saved_game import AGENT, FINISHED, PERSON, GameSoFar, SavedGame
from crib_env.evaluate.skill.analysis.judges import ExpertJudge
from crib_env.picture.seen import card_name
from tests.helpers.hidden_cards import cards_of
from tests.helpers.page import served_page
from tests.helpers.refusals import refused


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served_page(tmp_path_factory.mktemp("play")) as page:
        yield page


def first_choice(state):
    """The cards that a person who takes the first ones would play."""
    return state["frames"][-1]["sides"][PERSON]["legal"][: state["choose"]]


def records(page):
    file = page.games._record
    return read_records(file) if file.exists() else []


@pytest.mark.parametrize("agent", ["greedy", "random", "halscrib"])
def test_a_whole_game_by_messages_is_recorded_as_the_engine_played_it(page, agent):
    before = len(records(page))
    states = page.play_on(page.begin(agent, scores=[60, 70]))
    found = records(page)
    assert len(found) == before + 1
    sides = states[-1]["frames"][-1]["sides"]
    assert found[-1].scores == tuple(side["score"] for side in sides)
    assert max(found[-1].scores) == 121
    assert found[-1].players[0] == "human"
    assert (page.games._folder / FINISHED / f"{states[-1]['game']}.json").exists()
    assert page.play_on(page.ask("look", game=states[-1]["game"])[1])[-1]["over"]
    assert len(records(page)) == before + 1


def test_frames_follow_the_cards_and_the_show(page):
    states = page.play_on(page.begin(seed=5))
    frames = [frame for state in states for frame in state["frames"]]
    scores = np.array([[side["score"] for side in frame["sides"]] for frame in frames])
    assert (np.diff(scores, axis=0) >= 0).all()
    shows = [frame["counted"] for frame in frames if frame["counted"]]
    assert [(show["seat"], show["crib"]) for show in shows[:3]] in (
        [(0, False), (1, False), (1, True)],
        [(1, False), (0, False), (0, True)],
    )
    for show in shows:
        assert sum(item["points"] for item in show["items"]) == show["points"]
    assert {frame["deal"] for frame in frames} == set(range(1, frames[-1]["deal"] + 1))
    assert all(frame["mover"] in (None, PERSON, AGENT) for frame in frames)


def test_a_hand_that_ends_the_game_says_how_much_of_it_the_peg_needed(page):
    for seed in range(60):
        frames = page.play_on(page.begin(seed=seed, scores=[113, 113]))[-1]["frames"]
        last, counted = frames[-1], frames[-1]["counted"]
        if counted and counted["pegged"] < counted["points"]:
            seat = counted["seat"]
            assert counted["pegged"] == 121 - frames[-2]["sides"][seat]["score"]
            assert f" for {counted['pegged']} (of {counted['points']}: the peg stops at 121)" in last["caption"]
            return
    raise AssertionError("no hand was more than enough")


def hidden_cards(game):
    """Cards of this deal that the person may not know."""
    now = game.games[0]
    hidden = set(cards_of(now["hand"][AGENT])) | set(cards_of(now["discards"][AGENT]))
    return hidden | ({int(now["cards"][12])} if now["phase"] == DISCARD else set())


def named(content):
    """Every card that a message names, as 5H or as five of hearts."""
    text = json.dumps(content)
    return {card for card in range(52) if re.search(rf"\\b{format_card(card)}\\b|{card_name(card)}", text)}


def test_nothing_hidden_is_in_any_message(page):
    """In no message of a game stands a card of its deal that the person may not know, and no seed of deals."""
    n_checked = 0
    state = page.begin("greedy", seed=1_000_003)
    while not state["over"]:
        game = page.kept(state)
        for message in (state, *(page.ask(name, game=state["game"], **more)[1] for name, more in asked(state))):
            # The show of the deal before has other cards of this deal face up.
            frames = [frame for frame in message.pop("frames", []) if frame["deal"] == game.games["n_deals"][0]]
            of_deal = [note for note in message.pop("notes", []) if note["deal"] == game.games["n_deals"][0]]
            assert not named([frames, of_deal, message]) & hidden_cards(game)
            assert "1000003" not in json.dumps([frames, of_deal, message])
            n_checked += 1
            state.setdefault("frames", frames)
        state = page.play_on(state, 1)[-1]
    assert n_checked > 50


def asked(state):
    """Other messages that a page may send at this moment."""
    yield "look", {}
    yield "notes", {}
    yield "hint", {"at": state["at"]}


def test_only_the_page_itself_is_answered(page):
    state = page.begin("greedy")
    path, good = f"/{page.token}/do/look", {"Origin": page.origin}
    body = json.dumps({"game": state["game"]}).encode()
    assert page.send("POST", path, body, good)[0] == 200
    other = f"http://127.0.0.1:{page.port + 1}"
    for changed, headers in (
        (path.replace(page.token, "wrong"), good),
        (path.replace(page.token, ""), good),
        (path, {}),
        (path, {"Origin": "https://example.com"}),
        (path, {"Origin": other}),
        (path, {"Origin": "null"}),
        (path, {**good, "Host": f"localhost:{page.port}"}),
        (path, {**good, "Host": "rebound.example"}),
        (path, {**good, "Sec-Fetch-Site": "cross-site"}),
    ):
        status, _, answer = page.send("POST", changed, body, headers)
        assert status == 403, (changed, headers)
        assert state["game"].encode() not in answer
    assert page.send("GET", "/")[0] == page.send("GET", "/wrong/")[0] == 403
    assert page.send("GET", f"/{page.token}/", headers={"Origin": other})[0] == 403
    assert page.send("GET", f"/{page.token}/")[0] == 200


@pytest.mark.parametrize(
    ("name", "message", "fault"),
    [
        ("play", {"cards": ["ZZ"]}, "'ZZ' is not a card"),
        ("play", {"cards": []}, "0 cards are not allowed: name 2"),
        ("play", {"cards": ["5H", "5H"]}, "name 2 different ones"),
        ("play", {"cards": "5H"}, "a list"),
        ("play", {"cards": [5, 6]}, "text"),
        ("play", {"at": "0"}, "a whole number"),
        ("play", {"at": -1}, "moved on"),
        ("play", {"game": "../secret"}, "there is no game"),
        ("play", {"game": "20200101-000000"}, "there is no game"),
        ("back", {}, "practice"),
        ("again", {"at": 0}, "the game is not over: try again when it is"),
        ("set", {"coach": "loud"}, "coach='loud'"),
        ("new", {"agent": "nobody"}, "there is no agent 'nobody'"),
        ("new", {"agent": "human"}, "you are the human"),
        ("new", {"agent": "tests.helpers.page:Page"}, "name it on the command line"),
        ("new", {"scores": [121, 0]}, "scores"),
        ("new", {"scores": [0]}, "a list of 2"),
        ("new", {"seed": -1}, "seed"),
        ("new", {"dealer": "nobody"}, "dealer"),
        ("look", {}, "an unknown field 'at': its fields are game"),
        ("nothing", {}, "there is no message"),
    ],
)
def test_a_bad_message_is_refused_and_changes_nothing(page, name, message, fault):
    state = page.begin("greedy", dealer="agent")
    game = page.kept(state)
    before, file = game.games.copy(), game.file.read_bytes()
    fields = {
        "play": {"game": state["game"], "at": state["at"], "cards": ["5H", "6H"]},
        "set": {"game": state["game"]},
    }.get(name, {"game": state["game"], "at": state["at"]})
    status, answer = page.new(**message) if name == "new" else page.ask(name, **{**fields, **message})
    assert status in (400, 404, 409)
    assert fault in answer["error"]
    np.testing.assert_array_equal(game.games, before)
    assert game.file.read_bytes() == file


@pytest.mark.parametrize(
    ("of_game", "said", "fault"),
    [
        ("random", "greedy", "is random, not greedy"),
        ("random", "nobody", "is random, not nobody"),
        ("nobody", None, "there is no agent 'nobody'"),
        ("runs/gone", None, "runs/gone"),
        ("my_file:Agent", None, "give the name beside --resume"),
        ("no_such_file:Agent", "no_such_file:Agent", "no_such_file"),
    ],
)
def test_a_game_whose_agent_cannot_play_on_is_refused_before_there_is_an_address(
    of_game, said, fault, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("crib_env.evaluate.play.page.server.serve", lambda games, on_start: on_start("http://served"))
    file = tmp_path / "kept.json"
    file.write_text(json.dumps(asdict(GameSoFar(of_game, 1, 0, (0, 0), ()))))
    with refused(fault):
        play(said, resume=file, browser=False)
    assert "http" not in capsys.readouterr().out
    file.write_text(json.dumps(asdict(GameSoFar("random", 1, 0, (0, 0), ()))))
    for named in (None, "random"):
        play(named, resume=file, browser=False)
    assert capsys.readouterr().out.count("http://served") == 2


def test_cards_not_held_and_the_opponents_are_refused(page):
    state = page.begin("greedy", dealer="agent", seed=4)
    game = page.kept(state)
    file, own = game.file.read_bytes(), state["frames"][-1]["sides"][PERSON]["hand"]
    for card in range(52):
        if (text := format_card(card)) not in own:
            status, answer = page.ask("play", game=state["game"], at=state["at"], cards=[own[0], text])
            assert (status, answer) == (400, {"error": f"{text} is not legal"})
    assert game.file.read_bytes() == file


def test_malformed_and_oversized_messages_are_refused(page):
    path, good = f"/{page.token}/do/lobby", {"Origin": page.origin}
    for body in (b"", b"{", b"[]", b"\xff", b"[" * 3000, b'{"a": 1e999}', b"null"):
        assert page.send("POST", path, body, good)[0] == 400
    assert page.send("POST", path, b" " * (LARGEST + 1), good)[0] == 413
    assert page.send("POST", path, json.dumps({"a": "x" * 10_000_000}).encode()[: 1 << 17], good)[0] == 413
    assert page.send("PUT", path, b"{}", good)[0] == 405
    assert page.ask("lobby")[0] == 200


def test_a_card_sent_twice_is_played_once(page):
    state = page.begin("greedy", dealer="agent", seed=4)
    message = {"game": state["game"], "at": state["at"], "cards": first_choice(state)}
    first, second = page.ask("play", **message), page.ask("play", **message)
    assert (first[0], second[0]) == (200, 409)
    assert page.ask("look", game=state["game"])[1]["at"] == first[1]["at"]


def test_another_server_goes_on_with_the_game(tmp_path):
    with served_page(tmp_path, "halscrib") as page:
        state = page.play_on(page.begin("halscrib", seed=9, scores=[80, 80]), 7)[-1]
    with served_page(tmp_path) as page:
        assert [one["game"] for one in page.ask("lobby")[1]["waiting"]] == [state["game"]]
        found = page.ask("look", game=state["game"])[1]
        assert found["frames"][-1] == state["frames"][-1]
        assert found["at"] == state["at"]
        whole = page.play_on(found)[-1]
    with served_page(tmp_path / "other") as page:
        unbroken = page.play_on(page.begin("halscrib", seed=9, scores=[80, 80]))[-1]
        assert unbroken["frames"][-1] == whole["frames"][-1]


def test_a_game_is_open_in_one_server_at_a_time(tmp_path):
    with served_page(tmp_path) as page, served_page(tmp_path) as other:
        state = page.begin("greedy", seed=9, scores=[110, 110])
        status, answer = other.ask("look", game=state["game"])
        assert status == 400
        assert str(os.getpid()) in answer["error"]
        page.play_on(state)
        assert other.ask("look", game=state["game"])[1]["over"]
    assert not list(tmp_path.rglob("*.lock"))


def test_the_coach_keeps_nobody_waiting_before_it_is_ready(tmp_path):
    with served_page(tmp_path) as page:
        ready, page.games.warm = page.games.warm, COLD
        state = page.play_on(page.begin(), 1)[-1]
        assert page.ask("notes", game=state["game"])[1] == {
            "warm": False,
            "how": HOW,
            "notes": [],
            "line": [],
        }
        assert page.ask("hint", game=state["game"], at=state["at"])[0] == 400
        page.games.warm = ready
        assert len(page.ask("notes", game=state["game"])[1]["notes"]) == 1


def test_a_rematch_begins_anew_and_the_loser_deals_first(page):
    states = page.play_on(page.begin("greedy", scores=[60, 70], seed=3))
    assert page.ask("rematch", game=page.begin()["game"])[0] == 400
    status, state = page.ask("rematch", game=states[-1]["game"])
    sides = states[-1]["frames"][-1]["sides"]
    loser = min((PERSON, AGENT), key=lambda seat: sides[seat]["score"])
    assert status == 200
    assert state["name"] == "greedy"
    assert [side["score"] for side in state["frames"][0]["sides"]] == [0, 0]
    assert [side["is_dealer"] for side in state["frames"][0]["sides"]] == [loser == PERSON, loser == AGENT]


def test_games_are_listed_with_their_scores_and_deleted(tmp_path):
    with served_page(tmp_path) as page:
        waiting = page.play_on(page.begin("greedy", scores=[60, 70]), 8)[-1]
        finished = page.play_on(page.begin("erring:errs=5", scores=[100, 90]))[-1]
        lobby = page.ask("lobby")[1]
        for state, listed in ((waiting, lobby["waiting"]), (finished, lobby["finished"])):
            (row,) = listed
            assert row["scores"] == [side["score"] for side in state["frames"][-1]["sides"]]
            assert (row["game"], row["deal"]) == (state["game"], state["frames"][-1]["deal"])
        assert lobby["finished"][0]["name"] == finished["name"] == "Newcomer"
        for state in (waiting, finished):
            assert page.ask("delete", game=state["game"]) == (200, {})
            assert page.ask("look", game=state["game"])[0] == 400
        lobby = page.ask("lobby")[1]
        assert lobby["waiting"] == lobby["finished"] == []
        assert len(records(page)) == 1
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".lock"]


def test_the_latest_games_come_first_also_of_one_second(tmp_path):
    names = ["20260101-235959", "20260102-000000", *(f"20260102-000000-{k}" for k in (2, 9, 10)), "20260102-000001"]
    for name in (*names, "progress", "20260102"):
        (tmp_path / f"{name}.json").touch()
    assert [file.stem for file in latest_first(tmp_path)] == names[::-1]


def test_all_is_compiled_in_the_order_of_its_need(tmp_path, monkeypatch):
    """The offered player before the coach, the coach before reviews; a whole game from 0 to 0 of each."""
    begun = []
    real = SavedGame.begin_in
    monkeypatch.setattr(SavedGame, "begin_in", lambda so_far, folder: begun.append(so_far) or real(so_far, folder))
    said = [(warm, [(game.agent, game.scores) for game in begun]) for warm in warmed_up("greedy", ExpertJudge(5))]
    assert [warm for warm, _ in said] == [COACH, REVIEWS, READY]
    assert said[0][1] == [("greedy", (0, 0)), ("greedy", (105, 105))]
    assert {("random", (0, 0)), ("random", (105, 105))} <= {*said[1][1]}
    assert {(agent, (0, 0)) for agent in (LEVELS[0].agent, "best")} <= {*said[2][1]}


def test_practice_takes_cards_back_and_is_not_recorded(page):
    before = len(records(page))
    states = page.play_on(page.begin("greedy", practice=True, seed=6, scores=[110, 110]), 4)
    for earlier in reversed(states[1:-1]):
        status, state = page.ask("back", game=states[0]["game"], at=page.kept(states[0]).so_far.cards.__len__())
        assert status == 200
        assert state["frames"][-1]["sides"] == earlier["frames"][-1]["sides"]
    page.play_on(state)
    assert len(records(page)) == before


def test_a_moment_of_a_game_is_tried_again(page):
    states = page.play_on(page.begin("greedy", seed=8, scores=[100, 100]))
    assert "at=99999" in page.ask("again", game=states[0]["game"], at=99_999)[1]["error"]
    at = states[2]["at"]
    status, state = page.ask("again", game=states[0]["game"], at=at)
    assert status == 200
    assert state["practice"]
    assert state["game"] != states[0]["game"]
    assert state["at"] == at
    assert state["frames"][-1]["sides"] == states[2]["frames"][-1]["sides"]


def test_the_page_is_small_and_loads_nothing_from_elsewhere(page):
    files = page_files()
    assert sum(map(len, files.values())) < 200_000
    for name, content in files.items():
        status, headers, sent = page.send("GET", f"/{page.token}/{name}")
        assert (status, sent) == (200, content)
        assert "default-src 'none'" in headers["content-security-policy"]
        links = set(re.findall(r"""https?://[^"'\s<)]+""", content.decode()))
        assert links <= {"http://www.w3.org/2000/svg"}
        assert not re.search(r"@import|url\(", content.decode())
    assert page.send("GET", f"/{page.token}/server.py")[0] == 404
    assert page.send("GET", f"/{page.token}/..%2fserver.py")[0] == 404


@contextmanager
def connections(page, n, *sent):
    """So many connections, each after it has sent the same."""
    opened = []
    try:
        for _ in range(n):
            opened.append(socket.create_connection(("127.0.0.1", page.port), timeout=60))
            opened[-1].sendall(b"".join(sent))
        yield opened
    finally:
        for one in opened:
            one.close()


def answer(connection):
    """All that comes until the server closes a connection."""
    found = b""
    with suppress(ConnectionError):
        while part := connection.recv(4_096):
            found += part
    return found


@pytest.fixture
def no_traceback(caplog):
    yield
    assert not [record for record in caplog.get_records("call") if record.exc_info]


@pytest.mark.parametrize("line", [b"GET *", b"OPTIONS *", b"GET abc", b"GET //", b"GET /%ff%fe/", b"GET /\xc3\xa9/"])
def test_a_path_without_a_token_is_refused(page, line, no_traceback):
    host = page.origin.partition("//")[2].encode()
    with connections(page, 1, line, b" HTTP/1.1\r\nHost: ", host, b"\r\nConnection: close\r\n\r\n") as (one,):
        assert answer(one).split(b" ")[1] in (b"400", b"403")
    assert page.ask("lobby")[0] == 200


def test_a_body_that_breaks_off_leaves_no_traceback(page, no_traceback):
    lines = f"POST /{page.token}/do/lobby HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nOrigin: {page.origin}\r\n"
    with connections(page, 3, lines.encode(), b"Content-Length: 100\r\n\r\n{"):
        assert page.ask("lobby")[0] == 200  # they have been read
    for _ in range(3):
        assert page.ask("lobby")[0] == 200


def test_only_the_link_to_the_server_is_another_file_on_the_site():
    """The site without a server has its own files beside those of the page, under names of their own."""
    browser = Path(web.__file__).parent / "browser"
    assert {path.name for path in browser.glob("*.js")} & page_files().keys() == {"server_link.js"}
