"""The page in a real Chromium: games clicked through, by keys, on a phone, and after a reload or a killed server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("playwright")

from crib_env import format_card, parse_cards
from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.play.saved_game import FINISHED, SavedGame, read_game
from crib_env.picture.seen import card_name
from tests.helpers.page import served_page
from tests.helpers.tab import NEEDS_CHROMIUM, SIZES, WAITING, Tab, check_by_axe, goes_on, wrong_places

ROOT = Path(__file__).parents[1]
pytestmark = NEEDS_CHROMIUM


@pytest.fixture
def tab(browser, server):
    tab = Tab(browser, server.url)
    yield tab
    tab.close()


def check_nothing_hidden(messages, record):
    """No message names a card of the agent's that it has not laid, nor a starter before all have discarded."""
    n_checked = 0
    for message in messages:
        for frame in message.get("frames", []):
            cards = parse_cards(record.deals[frame["deal"] - 1])
            hidden = {format_card(card) for card in cards[6:12]} - {laid["card"] for laid in frame["laid"]}
            text = json.dumps({**frame, "laid": []})
            if frame["counted"] or "121 to" in frame["caption"]:  # its hand, and the crib at last, lie face up
                hidden -= set(frame["sides"][1]["hand"]) | set(frame["crib"])
            if len(frame["crib"]) < 4:
                hidden.add(format_card(cards[12]))
            for card in hidden:
                assert f'"{card}"' not in text
                assert card_name(parse_cards(card)[0]) not in text
                n_checked += 1
        for note in message.get("notes", []):
            own = {format_card(card) for card in parse_cards(record.deals[note["deal"] - 1])[:6]}
            laid = set(record.cards[note["deal"] - 1].split()[4:])  # test_play_page.py asks when they are named
            assert set(re.findall(r"\b[A2-9TJQK][CDHS]\b", note["text"] + note["why"])) <= own | laid
    assert n_checked


def check_whole_game(tab, server, agent, **fields):
    file = server.games._record
    before = len(read_records(file)) if file.exists() else 0
    tab.heard.clear()
    tab.begin(agent=agent, **fields)
    tab.play()
    (record,) = read_records(file)[before:]
    assert record.players == ("human", agent)
    assert tab.scores() == record.scores
    wins = "you win" if record.scores[0] == 121 else f"{agent} wins"
    assert f"{wins} 121 to {min(record.scores)}" in tab.page.inner_text("#said").lower()
    tab.page.wait_for_selector("#coach table")
    check_nothing_hidden(tab.messages(), record)


def test_a_game_clicked_through_is_the_engines(tab, server):
    check_whole_game(tab, server, "greedy", own=85, theirs=80, seed=4)
    assert tab.page.inner_text("#do") == "Rematch"
    tab.page.keyboard.press("r")
    tab.page.wait_for_selector("#game[data-turn=discard]")
    assert tab.scores() == (0, 0)
    tab.page.click("h1 a")
    tab.begin(agent="random", own=7, theirs=3)
    assert tab.turn in ("discard", "play")
    assert tab.scores() == (7, 3)


def test_a_player_that_takes_long_is_said_to_think(tab, monkeypatch):
    real = SavedGame.agents_card

    def agents_card(game):
        time.sleep(1)  # for each of two discards
        return real(game)

    tab.begin(agent="greedy", seed=3, dealer="agent")
    monkeypatch.setattr(SavedGame, "agents_card", agents_card)
    for _ in range(2):
        tab.page.locator("#mine .hand button[aria-pressed=false]").first.click()
    tab.page.click("#do")
    tab.page.wait_for_selector("#said:has-text('Greedy is thinking')")
    tab.page.wait_for_selector(WAITING)
    assert "thinking" not in tab.page.inner_text("#said")


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "games"), [("greedy", 7), ("expert", 7), ("halscrib", 6)])
def test_twenty_whole_games_against_three_agents(agent, games, tab, server):
    for seed in range(games):
        check_whole_game(tab, server, agent, seed=seed)
        tab.page.click("#leave")


def test_a_reload_and_a_killed_server_lose_nothing(browser, tmp_path):
    """A server of its own, ended as kill -9 does."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable,
        *["-m", "evaluate", "play", "greedy", "--no-browser", "--scores", "100", "100", "--seed=5"],
    ]

    def start():
        process = subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, text=True)
        return process, re.search(r"http://127\.0\.0\.1:\d+/\S+", process.stdout.readline())[0]

    process, url = start()
    try:
        tab = Tab(browser, url)
        tab.begin()
        (kept,) = (tmp_path / "runs" / "play").glob("*.json")
        assert read_game(kept).seed == 5
        tab.play(2)
        hand, scores = tab.hand(), tab.scores()
        tab.page.reload()
        assert tab.turn in ("discard", "play")
        assert (tab.hand(), tab.scores()) == (hand, scores)
        process.kill()
        process.wait()
        tab.page.locator("#mine .hand button:not([disabled])").first.click()
        tab.page.wait_for_selector("#fault:visible")
        assert "Your game is kept" in tab.page.inner_text("#fault")
        assert any("ERR_" in fault for fault in tab.faults)
        tab.context.close()
        process, url = start()
        tab = Tab(browser, url)
        tab.page.click("#lists a")
        assert tab.turn in ("discard", "play")
        assert (tab.hand(), tab.scores()) == (hand, scores)
        tab.play()
        (record,) = read_records(tmp_path / "runs" / "play" / "games.jsonl")
        assert tab.scores() == record.scores
        assert len(list((tmp_path / "runs" / "play" / FINISHED).iterdir())) == 1
        tab.close()
    finally:
        process.kill()


def test_by_keys_alone(tab):
    """From the first page to the next deal, with Tab, Enter, arrows and the numbers of the cards."""
    page = tab.page
    page.wait_for_selector("#new button.main")

    def tab_to(selector):
        for _ in range(200):
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {selector}")

    tab_to("#levels input:checked")
    page.keyboard.press("ArrowUp")
    tab_to("#new [name=dealer]")
    page.keyboard.type("my")
    tab_to("#go .main")
    page.keyboard.press("Enter")
    page.wait_for_selector("#game[data-turn=discard]")
    page.keyboard.press("2")
    page.keyboard.press("5")
    assert page.locator("#mine .hand button[aria-pressed=true]").count() == 2
    page.keyboard.press("5")
    tab_to("#mine .hand button")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    pressed = page.evaluate("document.activeElement.dataset.card")
    page.keyboard.press("Enter")
    assert page.locator("#mine .hand button[aria-pressed=true]").count() == 2
    assert page.evaluate("document.activeElement.dataset.card") == pressed
    for key in ("Space", "2", "1", "2", "Enter"):  # takes it back, and chooses others; Enter on a chosen card discards
        page.keyboard.press(key)
    page.wait_for_selector("#game[data-turn=play]")
    while tab.turn == "play":
        at = page.locator("#game").get_attribute("data-at")
        tab_to("#mine .hand button:not([disabled])")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#game:not([data-at='{at}'])")
    assert tab.turn == "discard"


def test_cards_have_names_and_points_are_announced(tab):
    tab.begin(agent="greedy", seed=2)
    names = {card_name(card) for card in range(52)}
    while tab.turn != "over":
        buttons = tab.page.locator("#mine .hand button").evaluate_all("all => all.map(one => one.ariaLabel)")
        assert set(buttons) <= names
        tab.decide()
        if re.search(r"(fifteen|pair|go|last card|run of \d) for \d", tab.page.inner_text("#said[aria-live=polite]")):
            return
    raise AssertionError("no points were announced")


@pytest.mark.parametrize("name", SIZES)
def test_a_decision_fits_the_window(name, browser, server):
    """A game to its end; on the phone by touch."""
    width, height = SIZES[name]
    tab = Tab(browser, server.url, viewport={"width": width, "height": height}, has_touch=name == "phone")
    tall = height >= 600
    assert not wrong_places(tab.page, tall=False)
    tab.begin(agent="greedy", seed=2, own=110, theirs=105)
    tab.page.wait_for_selector("#line svg", state="attached")
    while tab.turn != "over":
        assert not wrong_places(tab.page, tall)
        tab.decide()
    assert not wrong_places(tab.page, tall)
    if tab.page.locator("#talk").is_visible():
        tab.page.click("#talk")
    tab.page.wait_for_selector("#coach table")
    assert not wrong_places(tab.page, tall=False)
    tab.close()


def test_with_two_hundred_games_play_now_stays_in_the_window(browser, tmp_path):
    """At a level that is chosen; a game is deleted by a second click."""
    width, height = SIZES["laptop"]
    with served_page(tmp_path) as page:
        page.begin("greedy", scores=[30, 40])
        (file,) = tmp_path.glob("*.json")
        for k in range(199):
            shutil.copy(file, tmp_path / f"20200101-{k:06}.json")
        tab = Tab(browser, page.url, viewport={"width": width, "height": height})
        tab.page.wait_for_selector("#lists li")
        box = tab.page.locator("#go .main").bounding_box()
        assert 0 < box["y"] < height - box["height"]
        n = tab.page.locator("#lists li").count()
        assert "30 : 40" in tab.page.locator("#lists li").first.inner_text()
        tab.page.locator("#lists .delete").first.click()
        assert file.exists()
        tab.page.locator("#lists .delete").first.click()
        tab.page.wait_for_selector(f"#lists:not(:has(li:nth-child({n})))")
        assert not file.exists()
        tab.page.click(".level:has-text('Newcomer')")
        tab.page.click("#go .main")
        assert tab.turn == "discard"
        assert "against Newcomer" in tab.page.inner_text("#against")
        tab.close()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing(scheme, browser, server):
    tab = Tab(browser, server.url, preferences={"count": True}, color_scheme=scheme, reduced_motion="reduce")
    page = tab.page
    page.wait_for_selector("#new button.main")
    check_by_axe(page)
    tab.begin(agent="greedy", seed=3, own=95, theirs=95)
    page.wait_for_selector(".judge")
    page.click("#hint")
    page.wait_for_selector(".hint")
    check_by_axe(page)
    tab.decide()
    check_by_axe(page)
    while tab.turn == "play":
        page.locator("#mine .hand button:not([disabled])").first.click()
        page.wait_for_selector(f"{WAITING}, #guess")
        if page.locator("#guess").count():
            break
    check_by_axe(page)
    for key in ("0", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("#verdict")
    check_by_axe(page)
    while goes_on(page):
        pass
    page.wait_for_selector("#coach table")
    check_by_axe(page)
    tab.close()


def step_through(page):
    """From the first moment of a finished game to its first decision, by the line, by keys, and to its end."""
    said = page.inner_text("#said")
    page.click("#step-first")
    page.wait_for_selector("#said:has-text('Deal 1:')")
    page.locator("#line svg").click(position={"x": 2, "y": 20})
    page.wait_for_selector("#step:not([aria-busy=true])", state="attached")
    while not page.locator(".choices").count():
        page.keyboard.press("ArrowRight")
        page.wait_for_selector("#step:not([aria-busy=true])", state="attached")
    assert page.locator(".choices tbody tr").count() == 15
    assert page.locator(".choices .chosen").count() == 1
    assert not wrong_places(page)
    page.click("#step-last")
    assert page.inner_text("#said") == said
    page.click(".share summary")
    page.wait_for_selector(".share textarea")
    assert '"start_scores": [100, 100]' in page.input_value(".share textarea >> nth=0")


def test_practice_takes_back_and_a_costly_moment_is_tried_again(tab, server):
    tab.begin(agent="greedy", seed=12, own=100, theirs=100, practice=True)
    hand = tab.hand()
    tab.decide()
    tab.page.click("#undo")
    tab.page.wait_for_selector("#game[data-turn=discard]")
    assert tab.hand() == hand
    tab.play()
    first = tab.page.url
    tab.page.wait_for_selector("#coach table")
    step_through(tab.page)
    tab.page.locator("#coach .note button").first.click()
    tab.page.wait_for_selector("#game[data-turn=discard], #game[data-turn=play]")
    assert tab.page.url != first
    assert "practice" in tab.page.inner_text("#against")
    tab.decide()


@pytest.mark.slow
def test_a_running_game_does_not_offer_to_try_a_moment_again(tab, server):
    """Nor before the coach has spoken on a game that has just been opened, or on one whose last card was taken back."""
    tab.begin(agent="greedy", seed=12, own=100, theirs=100, practice=True)
    tab.play()
    again = tab.page.locator("#coach .note button")
    again.first.wait_for()
    tab.page.reload()
    again.first.wait_for()
    tab.page.route("**/do/notes", lambda route: None)  # the coach takes long
    again.first.click()
    tab.page.wait_for_selector("#game[data-turn=discard], #game[data-turn=play]")
    assert not again.count()
    tab.decide()
    tab.page.click("#undo")
    tab.page.wait_for_selector("#game[data-turn=discard], #game[data-turn=play]")
    assert not again.count()
