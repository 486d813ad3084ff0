"""The table without a server: the same answers as the server's, in Node and in Chromium."""

from __future__ import annotations

import functools
import gzip
import http.server
import json
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from crib_env.evaluate.play.web.opponents import PLAYING
from tests.helpers import web_positions
from tests.helpers.tab import CHROMIUM, check_by_axe
from tests.helpers.web_table import TableHere, play_both, same, web_table

SITE = Path(__file__).resolve().parent.parent / "docs" / "_build" / "html" / "play"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (SITE / "table.zip").is_file(), reason="there is no site of the table: make web"),
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The table of the site, and that of this process."""
    with web_table(SITE) as there:
        yield there, TableHere(tmp_path_factory.mktemp("games"))


def in_both(tables, call: str):
    """What a function of ``web_positions`` returns there and here."""
    source = Path(web_positions.__file__).read_text()
    status, there = tables[0].ask("python", source=f"{source}\n{call}")
    assert status == 200
    return there, json.loads(eval(call, vars(web_positions)))


def test_a_thousand_games_are_the_same(tables):
    """The whole record of each game, after each card."""
    there, here = in_both(tables, "played(1_000, 3)")
    assert len(here[0]) == 1_000
    assert there == here


def test_ten_thousand_positions_are_the_same(tables):
    """The cards of four agents, and the coach's values of all choices, to the last bit."""
    (seconds_there, there), (seconds_here, here) = in_both(tables, "judged(98, 3)")
    print({name: f"{seconds:.1f} s, there {seconds_there[name]:.1f} s" for name, seconds in seconds_here.items()})
    assert sum(len(cards[0]) for cards, _ in here) > 10_000
    assert len(there) == len(here)
    for k, (one, other) in enumerate(zip(there, here)):
        assert one == other, k


@pytest.mark.parametrize("agent", sorted(PLAYING))
def test_every_opponent_and_the_coach_say_the_same(tables, agent):
    """Hints, comments with their losses, the line of chances, the review and the shared text."""
    play_both(tables, agent, 7, coach="before")
    play_both(tables, agent, 8, coach="before", scores=(100, 104))
    print({name: f"{1000 * np.quantile(times, 0.95):.0f} ms" for name, times in tables[0].seconds.items()})
    tables[0].seconds.clear()


def test_the_lesson_is_the_same(tables):
    there, here = (table.ask("lesson")[1]["positions"] for table in tables)
    assert there == here
    for position in here[:3]:
        cards = position["frame"]["sides"][0]["legal"][: position["choose"]]
        one, other = (table.ask("answer", position=position["id"], cards=cards) for table in tables)
        assert one[0] == 200
        assert same(one, other)


def test_what_the_first_visit_loads():
    """In MB: what a server that compresses sends of the page, Python and the table."""
    sizes = {"page": 0.0, "pyodide": 0.0, "table.zip": 0.0}
    for path in SITE.rglob("*"):
        if path.is_file():
            part = path.relative_to(SITE).parts[0]
            sizes[part if part in sizes else "page"] += len(gzip.compress(path.read_bytes())) / 1e6
    print({part: round(size, 2) for part, size in sizes.items()})
    assert sizes["page"] < 0.1
    assert sum(sizes.values()) < 13


def test_others_do_not_play(tables):
    form = {"dealer": "cut", "scores": [0, 0], "seed": 1, "practice": False, "coach": "on", "counting": "table"}
    status, found = tables[0].ask("new", agent="llm:model=some", **form)
    assert status == 400
    assert "does not play on this page" in found["error"]


TOO_WIDE = """document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
    .filter(one => one.getBoundingClientRect().right > innerWidth).map(one => one.outerHTML.slice(0, 99))"""


@contextmanager
def file_server(folder):
    """Serves a folder; gives its address."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_game_in_chromium(tmp_path):
    """From a plain file server, under a path; kept after a reload, and without the server."""
    playwright = pytest.importorskip("playwright.sync_api")

    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "path").symlink_to(SITE)
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page(viewport={"width": 390, "height": 700}, reduced_motion="reduce")
        faults = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        with file_server(tmp_path) as address:
            began = time.perf_counter()
            page.goto(f"{address}/some/path/")
            page.get_by_text("Play now").click(timeout=60_000)
            page.locator("#game[data-turn=discard]").wait_for(timeout=60_000)
            print(f"first card after {time.perf_counter() - began:.1f} s")
            cards = page.locator("#mine .hand button")
            for k in range(2):
                cards.nth(k).click()
            page.locator("#do").click()
            page.locator("#game[data-turn=play]").wait_for(timeout=60_000)
            page.locator("#notes .note").first.wait_for(state="attached", timeout=60_000)
            assert page.evaluate(TOO_WIDE) == []
            check_by_axe(page)
            page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
        page.reload()  # the server has ended
        page.locator("#game[data-turn=play]").wait_for(timeout=60_000)
        assert not faults
        browser.close()
