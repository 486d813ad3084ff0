"""A tab of Chromium with the page in it, and what of the page lies where it should not."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import pytest

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
NEEDS_CHROMIUM = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason="there is no chromium: apt-get install chromium"
)
WAITING = "#game[data-turn=discard], #game[data-turn=play], #game[data-turn=over]"
TIMEOUT = 90_000  # milliseconds; test machines may be busy


@contextmanager
def chromium():
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """A tab of the browser: what it has heard from the server, and what went wrong in it."""

    def __init__(self, browser, url, pace="instant", preferences=MappingProxyType({}), **options):
        self.context = browser.new_context(**options)
        self.press = "tap" if options.get("has_touch") else "click"
        cookie = quote(json.dumps({"pace": pace, "forced": False} | preferences))
        self.context.add_cookies([{"name": "crib_preferences", "value": cookie, "url": url}])
        self.page = self.context.new_page()
        self.page.set_default_timeout(TIMEOUT)
        self.heard, self.faults = [], []
        self.page.on("response", lambda answer: self.heard.append(answer))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda line: line.type in ("error", "warning") and self.faults.append(line.text))
        self.page.goto(url)

    def begin(self, **fields):
        """Fills in the form and deals."""
        self.page.wait_for_selector("#new button.main")
        self.page.evaluate("document.querySelector('#more').open = true")
        for name, value in fields.items():
            field = self.page.locator(f"#new [name={name}]")
            if isinstance(value, bool):
                field.set_checked(value)
            elif name in ("coach", "dealer"):
                field.select_option(value)
            else:
                field.fill(str(value))
        self.page.click("#new button.main")
        self.page.wait_for_selector(WAITING)

    @property
    def turn(self):
        self.page.wait_for_selector(WAITING)
        return self.page.locator("#game").get_attribute("data-turn")

    def decide(self):
        """Clicks the first cards, and what follows from it."""
        at, turn = self.page.locator("#game").get_attribute("data-at"), self.turn
        for place in ["#mine .hand button:not([disabled])"] + ["#mine .hand [aria-pressed=false]", "#do"] * (
            turn == "discard"
        ):
            getattr(self.page.locator(place).first, self.press)()
        self.page.wait_for_selector(f"#game:not([data-at='{at}'])")
        self.page.wait_for_selector(WAITING)

    def play(self, n=10_000):
        """So many decisions, or to the end."""
        while n and self.turn != "over":
            self.decide()
            n -= 1

    def scores(self):
        return tuple(int(self.page.inner_text(f"{side} .score")) for side in ("#mine", "#theirs"))

    def hand(self):
        return self.page.eval_on_selector_all("#mine .hand .card", "cards => cards.map(card => card.dataset.card)")

    def messages(self):
        return [answer.json() for answer in self.heard if "/do/" in answer.url]

    def close(self):
        self.context.close()
        assert not self.faults


WRONG = """({ tall, parts }) => {
  const page = document.documentElement, wrong = [];
  if (page.scrollWidth > innerWidth) wrong.push("it scrolls sideways");
  if (tall && page.scrollHeight > innerHeight) wrong.push("it scrolls");
  for (const one of document.querySelectorAll(parts)) {
    const b = one.getBoundingClientRect(), name = one.id || one.dataset.card || one.className;
    if (b.width <= 1 || one.closest(".unseen")) continue;
    if (b.left < -0.5 || b.right > innerWidth + 0.5) wrong.push(`${name} sticks out sideways`);
    if (tall && (b.top < 0 || b.bottom > innerHeight)) wrong.push(`${name} lies outside`);
    const above = tall && document.elementFromPoint(b.left + Math.min(8, b.width / 2), b.top + b.height / 2);
    if (tall && !one.contains(above)) wrong.push(`${name} lies under ${above?.id || above?.className}`);
    if (one.matches("#mine button") && Math.min(b.width, b.height) < 40) wrong.push(`${name} is small for a finger`);
  }
  return wrong;
}"""
DECISION = "#board, #theirs .plate, #mine .plate, #mine .hand .card, #laid .card, #said, #actions > *, #talk"


def check_by_axe(page):
    """Fails with what axe finds on the page as it is."""
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    found = axe.run(page)["violations"]
    assert not found, [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]


def wrong_places(page, tall=True, parts=DECISION):
    """What of a screen lies outside the window, under something else, or is too small; ``tall``: also vertically."""
    return page.evaluate(WRONG, {"tall": tall, "parts": parts})


OVERLAPS = """() => {
  const boxes = [], found = [], words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = words.nextNode();) {
    const one = node.parentElement;
    if (!node.data.trim() || one.closest(".unseen, defs, script")) continue;
    if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      const slack = line.height / 5, b = { x: line.left, X: line.right, y: line.top + slack, Y: line.bottom - slack };
      for (let up = one; up && up !== document.body; up = up.parentElement) {
        if (getComputedStyle(up).overflow === "visible") continue;
        const c = up.getBoundingClientRect();
        Object.assign(b, { x: Math.max(b.x, c.left), X: Math.min(b.X, c.right) });
        Object.assign(b, { y: Math.max(b.y, c.top), Y: Math.min(b.Y, c.bottom) });
      }
      if (b.X - b.x < 2 || b.Y - b.y < 2) continue;
      const above = document.elementFromPoint((b.x + b.X) / 2, (b.y + b.Y) / 2)?.closest("#coach, #settings");
      if (!above || above.contains(one)) boxes.push({ ...b, one, text: node.data.trim() }); // a sheet may cover it
    }
  }
  boxes.forEach((a, k) => boxes.slice(k + 1).forEach(b => {
    const across = Math.min(a.X, b.X) - Math.max(a.x, b.x), down = Math.min(a.Y, b.Y) - Math.max(a.y, b.y);
    if (a.one !== b.one && across > 1 && down > 1) found.push(`${a.text} | ${b.text}`);
  }));
  return found;
}"""


def overlaps(page):
    """Pairs of texts that lie over each other."""
    return page.evaluate(OVERLAPS)


SIZES = {"laptop": (1366, 640), "phone": (390, 700), "large": (1920, 1080), "zoomed to 200 %": (640, 400)}


def goes_on(page):
    """One click on whatever waits, by hand nothing is counted; False at the end of the game."""
    page.wait_for_selector(f"{WAITING}, #game[data-turn=count] #guess, #do:not([disabled]):visible")
    if page.locator("#game[data-turn=count] #guess [aria-label='0 points']").count():
        page.click("#guess [aria-label='0 points']")
        page.wait_for_selector("#verdict, #guess")
    elif page.locator("#do:not([disabled]):visible").count():
        if page.inner_text("#do") == "Rematch":
            return False
        page.click("#do")
    else:
        page.locator("#mine .hand button:not([disabled]):not([aria-pressed=true])").first.click()
    page.wait_for_timeout(20)
    return True
