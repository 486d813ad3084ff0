"""The lesson of a day: own blunders and published positions, asked once a day until they are answered well."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, datetime, timedelta

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from crib_env import analyse_discard, format_card
from crib_env.agents.choosing import six_dealt
from crib_env.evaluate.play.lesson import NAME, OWN, POSITIONS, RUSH, SECONDS, THEMES, Lesson, Rush, casebook
from crib_env.evaluate.play.page.as_json import moment_of
from crib_env.evaluate.play.progress import read_progress
from crib_env.evaluate.play.reasons import REASONS
from crib_env.evaluate.play.saved_game import FINISHED
from crib_env.exact.discard_statistics import PLACES
from tests.helpers.page import served_page

TODAY = date.today()
TOMORROW = TODAY + timedelta(days=1)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A person with a game full of blunders."""
    with served_page(tmp_path_factory.mktemp("play")) as page:
        state = page.begin("greedy", scores=[90, 90], seed=4)
        state = page.play_on(state, last=True)[-1]
        page.ask("review", game=state["game"])
        yield page


def best_and_worst(position):
    """The two discards of a position with the best and the worst chance to win, by another way than the lesson's."""
    view = position.view()
    rows = analyse_discard(
        six_dealt(view)[0].tolist(), dealer=bool(view.is_dealer[0]), scores=tuple(view.scores[0].tolist())
    )
    pairs = rows["discard"][np.argsort(-rows["win_probability"])]
    return pairs[0].tolist(), pairs[-1].tolist()


def costliest_of(game):
    """The blunders that a lesson asks for."""
    return sorted(game.blunders, key=lambda blunder: -blunder.chance_lost)[:OWN]


def ask(page, position, cards, theme=""):
    status, found = page.ask("answer", theme=theme, position=position.id, cards=[format_card(card) for card in cards])
    assert status == 200, found
    return found


def test_a_lesson_has_ten_positions_and_own_blunders_first_from_the_next_day_on(page):
    (game,) = read_progress(page.games._folder)
    assert game.blunders
    assert not any(position.case is None for position in Lesson(page.games._folder, TODAY).positions)
    lesson = Lesson(page.games._folder, TOMORROW)
    own = [position for position in lesson.positions if position.case is None]
    assert len(lesson.positions) == POSITIONS == len({position.id for position in lesson.positions})
    assert lesson.positions[: len(own)] == (*own,)
    costliest = costliest_of(game)
    assert [one.id for one in own] == [f"{game.game}/{blunder.at}" for blunder in costliest]
    played = page.games._open[game.game].game
    for one, blunder in zip(own, costliest):
        view, _ = played.view_at(blunder.at)
        np.testing.assert_array_equal(one.view().hand, view.hand)
        np.testing.assert_array_equal(one.view().laid, view.laid)


def test_an_own_blunder_loses_again_what_it_lost(page):
    (game,) = read_progress(page.games._folder)
    lesson = Lesson(page.games._folder, TOMORROW)
    played = page.games._open[game.game].game
    for blunder in costliest_of(game):
        position = lesson.position(f"{game.game}/{blunder.at}")
        _, chosen = played.view_at(blunder.at)
        note = lesson.judged(position, chosen, page.games._open[game.game].coach.judge)
        assert note.decision.chance_lost == pytest.approx(blunder.chance_lost, abs=1e-9)
    (page.games._folder / NAME).unlink()


def test_an_answer_is_judged_told_and_kept_once_a_day(page):
    lesson = Lesson(page.games._folder, TODAY)
    shown = page.ask("lesson", theme="")[1]
    assert [one["id"] for one in shown["positions"]] == [position.id for position in lesson.positions]
    assert not any(one["given"] for one in shown["positions"])
    right, wrong = lesson.positions[:2]
    best, _ = best_and_worst(right)
    best_of_wrong, worst = best_and_worst(wrong)
    found = ask(page, right, best)
    assert found["right"]
    assert len(found["choices"]["rows"]) == len(PLACES)
    assert found["published"] == [[ranks, list(people)] for ranks, people in right.case.answers.items()]
    found = ask(page, wrong, worst)
    assert not found["right"]
    assert found["note"]["why"]
    assert ask(page, wrong, best_of_wrong)["right"]
    given = {one["id"]: one["given"] for one in page.ask("lesson", theme="")[1]["positions"] if one["given"]}
    assert {name: one["right"] for name, one in given.items()} == {right.id: True, wrong.id: False}
    later = Lesson(page.games._folder, TOMORROW)
    assert not later.given()


def test_positions_that_were_answered_well_come_last(tmp_path):
    seen, day, n_days = set(), TODAY, 0
    while True:
        lesson = Lesson(tmp_path, day)
        fresh = [position for position in lesson.positions if position.id not in seen]
        if len(fresh) < POSITIONS:
            break
        for position in fresh:
            seen.add(position.id)
        lines = [
            f'{{"day":"{day}","position":"{position.id}","cards":["5H","5D"],"chance_lost":0.0}}\n'
            for position in fresh
        ]
        with open(tmp_path / NAME, "a") as file:
            file.writelines(lines)
        day += timedelta(days=1)
        n_days += 1
    assert (n_days, len(fresh)) == divmod(len(casebook()), POSITIONS)


def test_nothing_of_the_opponents_is_in_a_lesson(page):
    n_checked = 0
    for position in Lesson(page.games._folder, TOMORROW).positions[:OWN]:
        game = position.games[0]
        shown = json.dumps(moment_of(position.games, ("you", "your opponent")))
        for card in {*game["cards"][6:12].tolist()} - {*game["laid"].tolist()}:
            assert f'"{format_card(card)}"' not in shown
            n_checked += 1
    assert n_checked


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ({"position": "A A A A 2 2 as pone", "cards": ["5H", "6H"]}, "no position"),
        ({"position": "../x", "cards": ["5H", "6H"]}, "no position"),
        ({"cards": ["5H"]}, "name 2 of the cards"),
        ({"cards": ["5H", "5H"]}, "name 2 of the cards"),
    ],
)
def test_other_answers_are_refused(page, message, fault):
    position = Lesson(page.games._folder, TODAY).positions[2].id
    kept = (page.games._folder / NAME).read_bytes()
    status, found = page.ask("answer", **{"theme": "", "position": position, **message})
    assert status == 400
    assert fault in found["error"]
    assert (page.games._folder / NAME).read_bytes() == kept


def test_a_game_that_is_gone_is_not_asked_about(tmp_path):
    with served_page(tmp_path) as page:
        state = page.begin("greedy", scores=[115, 115], seed=4)
        state = page.play_on(state, last=True)[-1]
        page.ask("review", game=state["game"])
        assert read_progress(tmp_path)[0].blunders
        (tmp_path / FINISHED / f"{state['game']}.json").unlink()
        assert all(position.case for position in Lesson(tmp_path, TOMORROW).positions)


def answered(folder, position, day, right):
    with open(folder / NAME, "a") as file:
        line = {"day": day.isoformat(), "position": position, "cards": ["5H"], "chance_lost": 0.0 if right else 0.1}
        file.write(json.dumps(line) + "\n")


def test_every_reason_for_an_error_is_of_one_theme():
    reasons = Counter(reason for theme in THEMES.values() for reason in theme)
    assert reasons == dict.fromkeys({*REASONS} - {"alike", "only card"}, 1)


def test_an_error_of_a_theme_comes_back_the_day_after_a_miss_and_later_after_each_right_answer(tmp_path):
    with served_page(tmp_path) as page:
        state = page.play_on(page.begin("greedy", scores=[90, 90], seed=4), last=True)[-1]
        page.ask("review", game=state["game"])
    (game,) = read_progress(tmp_path)
    blunder = game.blunders[0]
    name = f"{game.game}/{blunder.at}"
    theme = next(theme for theme, reasons in THEMES.items() if blunder.reason in reasons)

    def is_due(day):
        lesson = Lesson(tmp_path, day, theme)
        of_theme = [one for one in game.blunders if one.reason in THEMES[theme]]
        ids = [position.id for position in lesson.positions]
        assert set(ids) <= {f"{game.game}/{one.at}" for one in of_theme}
        assert lesson.due[theme] == len(ids)
        return name in ids

    day = TOMORROW
    assert is_due(day)
    for right, pause in ((False, 1), (True, 3), (True, 9), (False, 1), (True, 3)):
        answered(tmp_path, name, day, right)
        assert is_due(day)  # a lesson does not change in the course of its day
        assert not any(is_due(day + timedelta(days=k)) for k in range(1, pause))
        day += timedelta(days=pause)
        assert is_due(day)


def test_an_unknown_theme_is_refused(page):
    status, found = page.ask("lesson", theme="fifth street")
    assert status == 400
    assert "'fifth street'" in found["error"]


def test_a_rush_counts_until_its_time_is_over(tmp_path):
    with served_page(tmp_path) as page:
        shown = page.ask("lesson", theme=RUSH)[1]
        assert shown["seconds"] == SECONDS == 180
        rush = page.games._rush
        hands = [set(one["frame"]["sides"][0]["hand"]) for one in shown["positions"]]
        assert hands == [set(map(format_card, six_dealt(one.view())[0].tolist())) for one in rush.positions]
        (best, _), (_, worst), (third, _) = map(best_and_worst, rush.positions[:3])
        assert ask(page, rush.positions[0], best, RUSH) == {"right": True, "best": 1}
        assert ask(page, rush.positions[1], worst, RUSH) == {"right": False, "best": 1}
        assert ask(page, rush.positions[1], worst, RUSH) == {"right": False, "best": 1}
        rush._ends = datetime.now()
        found = ask(page, rush.positions[2], third, RUSH)
        assert (found["right"], found["best"]) == (True, 1)
        assert found["note"]["text"]
        assert len(rush.given()) == 2
        assert Rush(tmp_path, datetime.now()).best() == 1
        assert not Lesson(tmp_path, TODAY).given()
