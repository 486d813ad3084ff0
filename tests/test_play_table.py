"""The table in Chromium: no text over another, nothing that jumps, two people, forced cards, the show item by item."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("playwright")

from crib_env import format_card
from crib_env.evaluate.play.saved_game import PERSON
from crib_env.evaluate.play.words import with_runs_together
from crib_env.picture.seen import card_name
from crib_env.scoring import count_aloud, explain_show
from tests.helpers.hidden_cards import cards_of
from tests.helpers.tab import NEEDS_CHROMIUM, Tab, goes_on, overlaps

pytestmark = NEEDS_CHROMIUM


def places(page):
    """Where the parts of the table are that must not move in the course of a deal."""
    parts = "#board, #theirs .plate, #starter, #mine .plate"
    boxes = page.eval_on_selector_all(parts, "all => all.map(one => one.getBoundingClientRect()).map(b => [b.x, b.y])")
    return [(round(x), round(y)) for x, y in boxes]


def test_no_text_lies_over_another_and_nothing_jumps_in_a_deal(browser, server):
    """On a phone, with the show by hand, and the discards of the next deal."""
    size = {"width": 390, "height": 844}
    tab = Tab(browser, server.url, preferences={"count": True}, viewport=size, has_touch=True)
    page = tab.page
    page.wait_for_selector("#new button.main")
    assert not overlaps(page)
    tab.begin(agent="erring:errs=5", seed=3, own=60, theirs=55)
    before, n_shown = places(page), 0
    for _ in range(20):
        assert goes_on(page)
        assert not overlaps(page)
        if page.locator("#game:is([data-turn=discard], [data-turn=play], [data-turn=count])").count():
            moved = [max(abs(x - at), abs(y - down)) for (x, y), (at, down) in zip(places(page), before, strict=True)]
            assert max(moved) <= 1, moved  # a pixel, by rounding
            n_shown += 1
    assert n_shown > 8
    tab.close()


def test_two_people_never_read_each_others_discards(browser, server):
    """In no text and no attribute of the page, from a discard on until the crib is counted."""
    tab = Tab(browser, server.url)
    page, n_checked = tab.page, 0
    page.eval_on_selector("details:has(#pair)", "details => { details.open = true; }")
    page.click("#pair button")
    page.wait_for_selector("#game[data-turn=pass]")
    game = server.games._open[page.url.partition("#")[2]].game
    while game.games["n_deals"][0] < 3 and not game.is_over:
        if page.locator("#game[data-turn=pass]").count():
            page.click("#do")
            page.wait_for_selector("#game:is([data-turn=discard], [data-turn=play])")
        cards = page.locator("#mine .hand button:not([disabled]):not([aria-pressed=true])")
        deal, discards = int(game.games["n_deals"][0]), page.locator("#game[data-turn=discard]").count()
        cards.first.click()
        if discards:
            cards.first.click()
            page.click("#do")
        page.wait_for_selector("#game[data-turn=pass], #game[data-turn=play], #game[data-turn=over]")
        if game.games["n_deals"][0] == deal:
            hidden = [card for seat in (0, 1) for card in cards_of(game.games[0]["discards"][seat])]
            content = page.evaluate("document.querySelector('main').outerHTML")
            for card in hidden:
                assert f'"{format_card(card)}"' not in content
                assert card_name(card) not in content
                n_checked += 1
    assert n_checked > 20
    tab.close()


def test_forced_cards_lay_themselves(browser, server):
    tab = Tab(browser, server.url, preferences={"forced": True})
    tab.begin(agent="greedy", seed=5, own=90, theirs=90)
    page, n_clicked = tab.page, 0
    while tab.turn != "over":
        if tab.turn == "play":
            page.wait_for_function("document.querySelectorAll('#mine .hand button:not(:disabled)').length != 1")
        if tab.turn != "over":
            n_clicked += 1
            tab.decide()
    game = server.games._open[page.url.partition("#")[2]].game
    choices = [at for at in game.decisions() if game.played[at].view().action_mask[0].sum() > 1]
    assert n_clicked == len(choices) < len(game.decisions())
    tab.close()


@pytest.mark.slow
def test_score_and_pegs_go_with_each_item_of_the_show(browser, server):
    """Before the first item the score is that of the play; after each it is so much more, and so is the front peg."""
    tab = Tab(browser, server.url, "brisk")
    page = tab.page
    page.evaluate(
        """() => { window.seen = []; new MutationObserver(() => {
        const own = document.querySelector("#show h2.seat-0 strong");
        const score = Number(document.querySelector("#mine .score")?.textContent);
        const at = Math.max(...[...document.querySelectorAll(".peg.seat-0")].map(peg => Number(peg.dataset.hole)));
        if (own) seen.push([Number(own.textContent), score, at]);
        else if (!seen.length) window.start = score;
        }).observe(document.querySelector("#table"), { childList: true, subtree: true, characterData: true }); }"""
    )
    tab.begin(agent="greedy", seed=3, own=20, theirs=20, dealer="agent")
    shown = "#do:visible:has-text('Go on')"  # at the end of the show
    page.wait_for_selector(f"#game:is([data-turn=discard], [data-turn=play]), {shown}")
    while not page.locator(shown).count():
        goes_on(page)
        page.wait_for_selector(f"#game:is([data-turn=discard], [data-turn=play]), {shown}")
    game = server.games._open[page.url.partition("#")[2]].game
    seen, start = page.evaluate("[seen, start]")
    assert all(score == hole == start + points for points, score, hole in seen), (start, seen)
    assert len({points for points, *_ in seen}) > 1
    assert game.games["n_deals"][0] == 2
    page.click("#board")  # a tap anywhere goes on
    page.wait_for_selector("#game[data-turn=discard]")
    tab.close()


@pytest.mark.parametrize(
    ("hand", "starter", "said"),
    [
        ("3C 4D 5H 3S", "KC", "fifteen-two, fifteen-four, double run of 3 for 12"),
        ("3C 4D 5H 6S", "6C", "fifteen-two, fifteen-four, fifteen-six, double run of 4 for 16"),
        ("9C TD JH 9S", "9D", "triple run of 3 for 15"),
        ("2C 3D 4H 3S", "4C", "double double run of 3 for 16"),
        ("3C 4D 5H KS", "QC", "fifteen-two, fifteen-four, run of 3 for 7"),
        ("3C 3D KH KS", "2C", "fifteen-two, fifteen-four, fifteen-six, fifteen-eight, pair for 10, pair for 12"),
    ],
)
def test_runs_are_called_by_their_names(hand, starter, said):
    items = with_runs_together(explain_show(hand, starter))
    assert ", ".join(count_aloud(items)) == said
    assert sum(item.points for item in items) == sum(item.points for item in explain_show(hand, starter))


@pytest.mark.slow
def test_a_way_leads_back_from_what_if(browser, server):
    """To the moment in the review of the game that it comes from."""
    tab = Tab(browser, server.url)
    page = tab.page
    tab.begin(agent="greedy", seed=12, own=100, theirs=100)
    tab.play()
    review = page.url
    page.wait_for_selector("#coach table")
    page.locator("#coach .note button:has-text('What if')").first.click()
    page.wait_for_selector("#origin")
    at = page.locator("#game").get_attribute("data-at")
    page.reload()
    page.click("#origin")
    page.wait_for_selector("#step .choices")
    assert page.url == f"{review}/{at}"
    game = server.games._open[review.partition("#")[2]].game
    assert game.is_over
    assert game.played[int(at)].seat == PERSON
    tab.close()
