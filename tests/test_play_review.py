"""The review of a finished game: every moment, what could have been done, and games that are shared and imported."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from crib_env import parse_card, parse_cards
from crib_env.cards import format_cards
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.play.given_deals import imported
from crib_env.evaluate.play.saved_game import AGENT, PERSON
from crib_env.evaluate.rollout import rollout
from tests.helpers.files_of_users import DOCS
from tests.helpers.page import served_page
from tests.helpers.reference import score_play, score_show
from tests.helpers.refusals import refused


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served_page(tmp_path_factory.mktemp("play")) as page:
        yield page


@pytest.fixture(scope="module")
def over(page):
    """A finished game against a level, its review, and the game as the server holds it."""
    state = page.begin("greedy", scores=[102, 100], seed=4)
    state = page.play_on(state, last=True)[-1]
    return page.ask("review", game=state["game"])[1], page.kept(state), state["game"]


def test_every_moment_of_a_game_is_there(over):
    review, game, _ = over
    ats = [frame["at"] for frame in review["frames"]]
    assert ats == sorted(ats)
    assert set(game.decisions()) <= {*ats, 0}
    assert ats[-1] == len(game.played)
    assert [frame["deal"] for frame in review["frames"] if frame["at"] == 0] == [1]
    assert len(review["luck"]) == game.games["n_deals"][0]
    for at in game.decisions():
        frame = [frame for frame in review["frames"] if frame["at"] == at][-1]
        hand = {parse_card(card) for card in frame["sides"][PERSON]["hand"]}
        assert hand == {int(card) for card in game.view_at(at)[0].hand[0] if card >= 0}


def test_choices_have_their_figures(page, over):
    """Fifteen discards with hands counted again; each rank of the play with its points at once."""
    _, game, name = over
    n_discards = 0
    for at in game.decisions()[:8]:
        status, found = page.ask("choices", game=name, at=at)
        assert status == 200
        view, chosen = game.view_at(at)
        chances = [float(row["cells"][-1]) for row in found["rows"]]
        assert chances == sorted(chances, reverse=True)
        assert [set(row["cards"]) for row in found["rows"] if row["chosen"]] == [set(format_cards(chosen).split())]
        if view.is_discard[0]:
            n_discards += 1
            assert len(found["rows"]) == 15
            six = [int(card) for card in view.hand[0]]
            for row in found["rows"]:
                hand = [card for card in six if card not in parse_cards(" ".join(row["cards"]))]
                mean = np.mean([score_show(hand, card, crib=False) for card in range(52) if card not in six])
                cells = [float(cell) for cell in row["cells"]]
                assert cells[0] == pytest.approx(mean, abs=0.006)
                assert sum(cells[:3]) == pytest.approx(cells[3], abs=0.02)
            continue
        pile = [int(card) for card in view.laid[0, view.pile_start[0] :] if card >= 0]
        for row in found["rows"]:
            points = sum(points for points, _ in score_play([*pile, parse_card(row["cards"][0])]))
            assert int(row["cells"][0]) == points
        assert {row["cells"][1] for row in found["rows"]} >= {"+0.00"}
    assert n_discards
    agents = next(k for k, played in enumerate(game.played) if played.seat == AGENT)
    assert page.ask("choices", game=name, at=agents)[0] == 400


def test_a_shared_game_is_imported_as_it_was(page, over):
    review, _, name = over
    shared = page.ask("share", game=name)[1]
    record = GameRecord.of_line(shared["line"])
    record.check()
    status, state = page.ask("bring", line=shared["line"])
    assert status == 200
    assert state["over"]
    assert state["practice"]
    again = page.ask("review", game=state["game"])[1]
    assert again == review
    row = next(row for row in page.ask("lobby")[1]["finished"] if row["game"] == state["game"])
    assert (row["imported"], row["scores"]) == (True, list(record.scores))


def test_a_link_holds_a_game_and_opens_it_once(page):
    state = page.play_on(page.begin("greedy", seed=6))[-1]
    record, code = page.kept(state).record(), page.ask("share", game=state["game"])[1]["code"]
    assert re.fullmatch(r"[\w-]{200,450}", code)
    assert GameRecord.of_code(code) == record
    opened = [page.ask("bring", line=f"{start}{code}")[1] for start in ("https://here.example/play/#replay/", "")]
    assert opened[0]["game"] == opened[1]["game"]
    assert page.kept(opened[0]).record() == replace(record, seed=0)


def test_a_damaged_link_gives_one_clear_line(page, over):
    code = over[1].record().to_code()
    other = "B" if code[50] == "A" else "A"
    for wrong in (code[:-4], code[4:], f"{code[:50]}{other}{code[51:]}", "", "%%%", code + code[:8]):
        status, answer = page.ask("bring", line=f"https://here.example/#replay/{wrong}")
        assert status == 400, wrong
        assert answer["error"] == "this link to a game is damaged: copy it again, all of it"


def test_a_game_in_which_the_person_sat_second_is_turned_round(over):
    _, game, _ = over
    record = game.record()

    def turned(deal):
        cards = parse_cards(deal)
        return format_cards([*cards[6:12], *cards[:6], cards[12]])

    other = replace(
        record,
        players=record.players[::-1],
        scores=record.scores[::-1],
        start_scores=record.start_scores[::-1],
        first_dealer=1 - record.first_dealer,
        deals=tuple(map(turned, record.deals)),
    )
    other.check()
    assert imported(other.to_line()) == imported(record.to_line())


def test_a_line_that_is_no_game_is_refused(page, over):
    line = json.loads(over[1].record().to_line())
    for wrong in ("{}", "x", json.dumps({**line, "scores": [1, 2]}), json.dumps({**line, "cards": line["cards"][:-1]})):
        status, answer = page.ask("bring", line=wrong)
        assert status == 400, answer
        assert answer["error"]


def test_a_name_that_turns_round_what_follows_is_refused():
    line = json.loads((DOCS / "game.jsonl").read_text().splitlines()[0])
    with refused(r"opponent='a\u202eb' is not allowed"):
        imported(json.dumps(line | {"players": ["human", "a\u202eb"]}))


def test_a_game_that_goes_on_is_not_reviewed(page):
    name = page.begin("greedy")["game"]
    for message in ({"name": "review"}, {"name": "choices", "at": 0}, {"name": "share"}):
        assert page.ask(**message, game=name)[0] == 400


def test_a_game_that_was_looked_through_counts_in_the_progress_once(page, over):
    _, game, name = over
    rows = dict(page.ask("progress")[1]["rows"])
    page.ask("review", game=name)
    assert dict(page.ask("progress")[1]["rows"]) == rows
    won = game.games["scores"][0, PERSON] == 121
    assert rows["games won"].startswith(f"{int(won)} of 1 ")
    assert page.ask("progress")[1]["rating"] is None


def test_a_decision_is_rolled_out_as_by_the_command(page, over):
    """A card of the play: at the end the figures are those of the library; a stopped rollout stays as it is."""
    _, game, name = over
    at = next(
        k
        for k in reversed(game.decisions())
        if not game.played[k].is_discard and len({*np.flatnonzero(game.view_at(k)[0].action_mask[0]) % 13}) > 1
    )
    begun = page.ask("roll", game=name, at=at, on=True)[1]
    assert begun["goes_on"]
    while (found := page.ask("roll", game=name, at=at, on=True)[1])["goes_on"]:
        time.sleep(0.1)
    view, chosen = game.view_at(at)
    expected = rollout(view, seconds=60)
    assert [parse_cards(" ".join(row["cards"])) for row in found["rows"]] == [[*one.cards] for one in expected.choices]
    assert [float(row["cells"][0].split(" ± ")[0]) for row in found["rows"]] == pytest.approx(
        [100 * one.chance for one in expected.choices], abs=0.051
    )
    assert [parse_card(row["cards"][0]) % 13 for row in found["rows"] if row["chosen"]] == [chosen[0] % 13]
    other = next(k for k in game.decisions() if game.played[k].is_discard)
    page.ask("roll", game=name, at=other, on=True)
    assert page.ask("roll", game=name, at=at, on=False) == (200, {})  # of the one before: says nothing, stops nothing
    assert page.ask("roll", game=name, at=other, on=True)[1]["goes_on"]
    running = page.games._rolling._made
    assert not page.ask("roll", game=name, at=other, on=False)[1]["goes_on"]
    assert isinstance(running.exception(timeout=60), InterruptedError)
    for wrong in ({"game": page.begin("greedy")["game"], "at": 0}, {"game": name, "at": 1_000}):
        assert page.ask("roll", **wrong, on=True)[0] == 400
