"""Every screen of the page in a real Chromium: axe in light and dark, sizes of windows, motion; and the lesson."""

from __future__ import annotations

import shutil
from datetime import date

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("playwright")

from crib_env.evaluate.play.lesson import Lesson
from tests.helpers.page import served_page
from tests.helpers.tab import NEEDS_CHROMIUM, SIZES, WAITING, Tab, check_by_axe, overlaps, wrong_places

pytestmark = NEEDS_CHROMIUM
LESSON = "#lesson .felt > *, #lesson .hand button, .positions button"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Of a person with 200 games that wait, and two that were looked through: progress has a rating."""
    folder = tmp_path_factory.mktemp("play")
    with served_page(folder) as page:
        state = page.begin("greedy", scores=[30, 40])
        for k in range(199):
            shutil.copy(folder / f"{state['game']}.json", folder / f"20200101-{k:06}.json")
        for seed in (4, 5):
            state = page.begin("greedy", scores=[110, 105], seed=seed)
            state = page.play_on(state, last=True)[-1]
            page.ask("review", game=state["game"])
        yield page


def answer(page, n):
    """Chooses the first cards in a position of the lesson, and answers."""
    for k in range(n):
        page.locator(".felt .hand button:not([disabled])").nth(k).click()
    page.click("#send")
    page.wait_for_selector("#answer .choices")


@pytest.mark.parametrize("name", SIZES)
def test_a_position_of_the_lesson_fits_the_window(name, browser, server):
    width, height = SIZES[name]
    tab = Tab(browser, server.url, viewport={"width": width, "height": height}, has_touch=name == "phone")
    tab.page.click("#to-lesson")
    tab.page.wait_for_selector(".felt .hand button")
    assert not wrong_places(tab.page, height >= 600, LESSON)
    answer(tab.page, 2)
    assert not wrong_places(tab.page, False, LESSON + ", #answer > *")
    tab.close()


def test_a_lesson_by_keys_alone_is_kept(browser, tmp_path):
    with served_page(tmp_path) as server:
        tab = Tab(browser, f"{server.url}#lesson")
        page = tab.page
        for n in range(1, 11):
            page.wait_for_selector(f"h2:has-text('Position {n} of 10')")
            assert page.evaluate("document.activeElement.matches('.felt .hand button')")
            for key in ("Enter", "Tab", "Space"):
                page.keyboard.press(key)
            while not page.evaluate("document.activeElement.matches('#send')"):
                page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            page.wait_for_selector("#answer .choices")
            if n < 10:
                while not page.evaluate("document.activeElement.matches('#next')"):
                    page.keyboard.press("Tab")
                page.keyboard.press("Enter")
        given = Lesson(tmp_path, date.today()).given().values()
        right = sum(answer.chance_lost < 0.0005 for answer in given)
        assert len(given) == 10
        assert f"You have answered {right} of 10 as well as can be" in page.inner_text("#answer")
        assert page.locator(".positions .right").count() == right
        page.reload()
        page.wait_for_selector("#answer:has-text('Today you answered')")
        page.click("h1 a")
        page.wait_for_selector("#new button.main:visible")
        tab.close()


def sit_down(page):
    """Ann and Bob begin a game."""
    page.eval_on_selector("details:has(#pair)", "details => { details.open = true; }")
    page.fill("#pair [name=first]", "Ann")
    page.fill("#pair [name=second]", "Bob")
    page.click("#pair button")
    page.wait_for_selector("#game[data-turn=pass]")


def faces(page):
    """The cards that lie face up on the table, and all that the page says of cards."""
    cards = "cards => cards.map(card => card.dataset.card)"
    return set(page.eval_on_selector_all("#mine [data-card], #theirs [data-card], .crib [data-card]", cards))


@pytest.mark.parametrize("name", SIZES)
def test_two_people_pass_the_machine_on(name, browser, server):
    """While it goes from one to the other no hand is in the page; a reload covers a hand again."""
    width, height = SIZES[name]
    tab = Tab(browser, server.url, viewport={"width": width, "height": height}, has_touch=name == "phone")
    page, tall = tab.page, height >= 600
    sit_down(page)
    seats = []
    for _ in range(8):
        assert not faces(page)
        assert not wrong_places(page, tall)
        who = page.inner_text("#do").removeprefix("I am ").partition(":")[0]
        seats.append(who)
        page.click("#do")
        page.wait_for_selector("#game[data-turn=discard], #game[data-turn=play]")
        assert page.inner_text("#mine .name") == who
        assert set(tab.hand()) <= faces(page)
        assert not page.locator("#theirs .hand [data-card]").count()
        assert not wrong_places(page, tall)
        if len(seats) == 1:
            page.reload()
            page.wait_for_selector("#game[data-turn=pass]")
            assert not faces(page)
            page.click("#do")
            page.wait_for_selector("#game[data-turn=discard]")
        while page.locator("#game:is([data-turn=discard], [data-turn=play])").count():
            at = page.locator("#game").get_attribute("data-at")
            page.locator("#mine .hand button:not([disabled]):not([aria-pressed=true])").first.click()
            if page.locator("#mine .hand button[aria-pressed=true]").count() == 2:
                page.click("#do")
            if page.locator("#mine .hand button[aria-pressed=true]").count() != 1:
                page.wait_for_selector(f"#game:not([data-at='{at}']):not([data-turn=wait])")
    assert {*seats} == {"Ann", "Bob"}
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_screen(scheme, browser, server):
    """The lobby with 200 games and all that folds out of it, the lesson, two people at the table, the review."""
    tab = Tab(browser, server.url, color_scheme=scheme, reduced_motion="reduce")
    page = tab.page
    page.wait_for_selector("#lists li:nth-child(20)")
    page.click("#menu summary")
    for one in page.locator("#lobby details > summary").all():
        one.click()
    page.wait_for_selector("#progress table")
    check_by_axe(page)
    page.click("#menu summary")
    page.click("#to-lesson")
    page.wait_for_selector(".felt .hand button")
    check_by_axe(page)
    answer(page, 2)
    check_by_axe(page)
    page.click("h1 a")
    sit_down(page)
    check_by_axe(page)
    page.click("#do")
    page.wait_for_selector("#game[data-turn=discard]")
    check_by_axe(page)
    page.click("h1 a")
    page.locator("#lists ul").nth(1).locator("a").first.click()
    page.wait_for_selector(WAITING)
    page.wait_for_selector("#coach table")
    page.click("#step-first")
    while not page.locator(".choices").count():
        page.keyboard.press("ArrowRight")
        page.wait_for_selector("#step:not([aria-busy=true])", state="attached")
    page.click(".share summary")
    page.wait_for_selector(".share textarea")
    check_by_axe(page)
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_moves_where_the_system_asks_for_that(motion, browser, server):
    """Cards travel and pegs walk otherwise, so that the test would see it."""
    tab = Tab(browser, server.url, "brisk", reduced_motion=motion)
    page = tab.page
    page.evaluate(
        """() => { window.moved = 0; const real = Element.prototype.animate;
        Element.prototype.animate = function (...all) { window.moved += 1; return real.apply(this, all); }; }"""
    )
    tab.begin(agent="greedy", seed=3)
    tab.play(2)
    assert (page.evaluate("window.moved") > 0) == (motion == "no-preference")
    tab.close()


@pytest.mark.slow
def test_a_link_a_rush_and_the_deal_of_the_day_on_a_phone(browser, tmp_path):
    """Each from the address alone; a rush ends by its clock, and the day's result can be copied."""
    with served_page(tmp_path) as server:
        state = server.play_on(server.begin("greedy", scores=[110, 105], seed=4))[-1]
        code = server.ask("share", game=state["game"])[1]["code"]
        tab = Tab(browser, f"{server.url}#replay/{code}", viewport={"width": 390, "height": 844}, has_touch=True)
        page = tab.page
        page.wait_for_selector("#coach table", state="attached")
        assert tab.scores() == tuple(side["score"] for side in state["frames"][-1]["sides"])
        tab.page.goto(f"{server.url}#replay/{code[:-9]}")
        page.wait_for_selector("#fault:has-text('damaged')")
        assert all("400" in fault for fault in tab.faults)
        tab.faults.clear()
        page.click("#to-rush")
        page.wait_for_selector("#clock:has-text('2:5')")
        assert not wrong_places(page, True, LESSON)
        check_by_axe(page)
        for n in range(1, 3):
            for k in range(2):
                page.locator(".felt .hand button").nth(k).click()
            page.click("#send")
            page.wait_for_selector(f"#clock:has-text('of {n} right')")
        page.evaluate("Date.now = (now => () => now() + 200_000)(Date.now)")
        page.wait_for_selector("h2:has-text('Time.')")
        right = sum(answer.is_right for answer in server.games._rush.given().values())
        assert f"{right} of 2 right" in page.inner_text(".felt")
        check_by_axe(page)
        page.click("h1 a")
        page.click("#to-day")
        page.wait_for_selector("#game[data-turn=discard]")
        assert not page.locator("#hint").is_visible()
        tab.play()
        assert not wrong_places(page)
        assert not overlaps(page)
        page.click("#talk")
        page.click(".share summary")
        page.wait_for_selector(".share textarea")
        assert page.locator(".share textarea").count() == 1
        assert date.today().isoformat() in page.input_value(".share textarea")
        tab.close()


def test_a_decision_is_rolled_out_beside_the_table_and_stopped(browser, server):
    """Figures come while it goes on and the page is used; Stop ends it, and so does another moment."""
    tab = Tab(browser, server.url, viewport={"width": 1366, "height": 640})
    page = tab.page
    page.locator("#lists ul").nth(1).locator("a").first.click()
    page.wait_for_selector("#coach table")
    page.click("#step-first")
    page.wait_for_selector("#step .rollout button:has-text('Roll out')")
    page.click("#step .rollout button")
    page.click(".share summary")
    page.wait_for_selector(".share textarea")
    page.wait_for_selector("#step .rollout .choices tbody tr:nth-child(15)")
    assert page.inner_text("#step .rollout button") == "Stop"
    assert "±" in page.inner_text("#step .rollout tbody tr:nth-child(15)")
    assert not page.evaluate(
        "document.querySelector('#notes').scrollWidth > document.querySelector('#notes').clientWidth"
    )
    page.click("#step .rollout button")
    page.wait_for_selector("#step .rollout button:has-text('Roll out')")
    assert page.locator("#step .rollout .choices").count() == 1
    check_by_axe(page)
    page.click("#step .rollout button")
    page.wait_for_selector("#step .rollout button:has-text('Stop')")
    rolling = server.games._rolling
    with page.expect_response(lambda answer: '"on":false' in (answer.request.post_data or "")):
        page.keyboard.press("End")
    assert not page.locator(".rollout").count()
    assert rolling._stopped.is_set()
    tab.close()
