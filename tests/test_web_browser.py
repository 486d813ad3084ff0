"""The table without a server in Chromium: a game, the same answers as here, and how soon they come."""

from __future__ import annotations

import functools
import http.server
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from tests.helpers.tab import CHROMIUM, NEEDS_CHROMIUM, check_by_axe
from tests.helpers.web_table import NEEDS_SITE, SITE

pytestmark = [pytest.mark.slow, NEEDS_SITE, NEEDS_CHROMIUM]
DEALT = "#game[data-turn=discard]"
TOO_WIDE = """document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
    .filter(one => one.getBoundingClientRect().right > innerWidth).map(one => one.outerHTML.slice(0, 99))"""
ASK = """async ([name, fields]) => {
    const { ask } = await import("./server_link.js"), before = performance.now(), answer = await ask(name, fields);
    return [performance.now() - before, answer];
}"""


class Silent(http.server.SimpleHTTPRequestHandler):
    """A plain file server."""

    def log_message(self, *_):
        """Says nothing."""


@contextmanager
def file_server(folder):
    """Serves a folder; gives its address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


def begin(page, address) -> float:
    """Seconds until the first card of a game lies."""
    began = time.perf_counter()
    page.goto(address)
    page.get_by_text("Play now").click(timeout=60_000)
    page.locator(DEALT).wait_for(timeout=60_000)
    return time.perf_counter() - began


def test_a_game(browser, tmp_path):
    """From a plain file server, under a path; kept after a reload, and without the server."""
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "path").symlink_to(SITE)
    page = browser.new_page(viewport={"width": 390, "height": 700}, reduced_motion="reduce")
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    with file_server(tmp_path) as address:
        begin(page, f"{address}/some/path/")
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
    page.close()


def test_how_soon_the_first_card_lies(browser):
    """Seconds of twelve first visits; of each the next, until the table has answered once."""
    first, next_one = [], []
    with file_server(SITE) as address:
        for _ in range(12):
            context = browser.new_context(reduced_motion="reduce")
            page = context.new_page()
            first.append(begin(page, address))
            page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
            page.close()
            page, began = context.new_page(), time.perf_counter()
            page.goto(address)
            page.evaluate(ASK, ["lobby", {}])
            next_one.append(time.perf_counter() - began)
            context.close()
    for told, seconds in (("first card", first), ("next visit", next_one)):
        print(f"{told}: {np.round(np.sort(seconds), 2).tolist()} s")
    assert np.median(first) < 10


def test_how_soon_answers_come(browser):
    """Milliseconds by kind of message, in six games with the coach; each first answer loads its tables."""
    times: dict[str, list[float]] = {}
    with file_server(SITE) as address:
        page = browser.new_page()
        page.goto(address)

        def ask(name, **fields):
            milliseconds, answer = page.evaluate(ASK, [name, fields])
            times.setdefault(name, []).append(milliseconds)
            return answer

        form = {"dealer": "cut", "scores": [0, 0], "practice": False, "coach": "before"}
        for seed, agent in enumerate(("best", "expert", "greedy") * 2):
            state = ask("new", agent=agent, seed=seed, **form)
            game = {"game": state["game"]}
            while not state["over"]:
                legal, at = state["frames"][-1]["sides"][0]["legal"], state["at"]
                ask("hint", at=at, **game)
                state = ask("play", at=at, cards=legal[: state["choose"]], **game)
                ask("notes", **game)
            for name in ("review", "share"):
                ask(name, **game)
        page.close()
    for name, found in times.items():
        middle, high, most = np.quantile(found, (0.5, 0.95, 1))
        print(f"{name}: {len(found)} answers, median {middle:.0f}, 95 % within {high:.0f}, all within {most:.0f} ms")
    assert np.quantile(times["play"], 0.95) < 1000
