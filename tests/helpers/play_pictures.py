"""The pictures of the page in docs/: ``python -m tests.helpers.play_pictures`` takes them again."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.helpers.page import served_page
from tests.helpers.tab import Tab, chromium

DOCS = Path(__file__).parents[2] / "docs"
VIEWS = {"light": (1366, 640, "light"), "dark": (1366, 640, "dark"), "phone": (390, 700, "light")}
DECISIONS = 3


def take_pictures() -> None:
    """The same game on each screen, and the answer to a position of the lesson."""
    with tempfile.TemporaryDirectory() as folder, served_page(Path(folder)) as server, chromium() as browser:
        for name, (width, height, scheme) in VIEWS.items():
            window = {"width": width, "height": height}
            tab = Tab(browser, server.url, viewport=window, color_scheme=scheme, has_touch=name == "phone")
            tab.page.set_default_timeout(120_000)
            tab.begin(agent="erring:errs=2", seed=11)
            tab.play(DECISIONS)
            tab.page.wait_for_function("n => document.querySelectorAll('#notes .note').length >= n", arg=DECISIONS - 1)
            tab.page.wait_for_timeout(1_000)  # no card is on its way
            tab.page.screenshot(path=DOCS / f"play-{name}.png")
            if name == "light":
                tab.page.click("h1 a")
                tab.page.click("#to-lesson")
                for k in (0, 5):
                    tab.page.locator(".felt .hand button").nth(k).click()
                tab.page.click("#send")
                tab.page.wait_for_selector("#answer .choices")
                tab.page.wait_for_timeout(1_000)
                tab.page.screenshot(path=DOCS / "play-lesson.png")
            tab.close()


if __name__ == "__main__":
    take_pictures()
