"""The tier of the suite for language models."""

import hashlib
import json

import numpy as np
import pytest

from crib_env import decisions
from crib_env.agents import make_agent
from crib_env.agents.llm import question
from crib_env.evaluate.commands.suite import suite
from crib_env.evaluate.skill.positions import batch_of
from crib_env.evaluate.skill.suite import discards, play, text
from crib_env.evaluate.skill.suite.suite import NAMES
from crib_env.evaluate.skill.suite.task import NotMeasuredError, Work
from crib_env.evaluate.statistics import Measured
from tests.helpers.model_server import PlayerInWords, model_server
from tests.helpers.refusals import refused


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def work(share):
    return Work(share, 1, lambda done: None)


def test_what_models_are_asked_never_changes_within_a_version():
    views = [batch_of(games).views(np.arange(len(games))) for games in text.positions()]
    asked = [question(view) for part in views for view in decisions(part)]
    assert len({words["content"] for _, words in asked}) == len(asked) == 2 * text.N
    assert hashlib.sha256(json.dumps(asked).encode()).hexdigest() == text.HASH


@pytest.mark.parametrize("name", ["greedy", "careful"])
def test_figures_are_those_of_the_same_positions(name):
    found = text.measure(make_agent(name), work(1.0))
    whole = discards.measure(make_agent(name), work(text.N / discards.N))
    whole |= play.measure(make_agent(name), work(text.N / play.N))
    for mine, theirs in (
        ("points lost a discard in words", "points lost a discard at 0–0"),
        ("best discards in words, %", "best discards at 0–0, %"),
        ("points lost a card laid in words", "points lost a card laid"),
        ("cards laid in words that lose less than 0.01, %", "cards laid that lose less than 0.01, %"),
    ):
        assert found[mine] == whole[theirs]
    assert found["points lost an answer in words"].mean == pytest.approx(
        (found["points lost a discard in words"].mean + found["points lost a card laid in words"].mean) / 2
    )
    assert found["positions answered, %"] == Measured.percent(2 * text.N, 2 * text.N)


def llm(url, **settings):
    return make_agent(f"llm:model=m,base_url={url}" + "".join(f",{key}={value}" for key, value in settings.items()))


@pytest.mark.parametrize("share", [0.03, pytest.param(1.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["greedy", "careful"])
def test_a_model_has_the_figures_of_the_player_behind_it(name, share):
    expected, done = text.measure(make_agent(name), work(share)), []
    with model_server(PlayerInWords(name).answer) as (url, asked):
        found = text.measure(llm(url), Work(share, 2, done.append))
    assert found.pop("first answers with a legal card, %") == Measured.percent(len(asked), len(asked))
    assert found == expected
    assert len(asked) == round(800 * share)
    assert sum(done) == pytest.approx(100)


def has_a_red_king(words):
    return "KH" in words or "KD" in words


def test_what_a_model_does_not_answer_is_left_out_and_stated():
    player, done = PlayerInWords("greedy"), []

    def answer(messages):
        words = messages[1]["content"]
        return "I would rather not." if has_a_red_king(words) else player.answer(messages)

    with model_server(answer) as (url, asked):
        found = text.measure(llm(url), Work(0.03, 1, done.append))
    unanswered = sum(has_a_red_king(body["messages"][1]["content"]) for body, _ in asked) // 3
    assert found["positions answered, %"].mean == pytest.approx(100 * (24 - unanswered) / 24)
    assert found["first answers with a legal card, %"] == Measured.percent(24 - unanswered, 24)
    assert 0 < unanswered < 20
    assert found["points lost an answer in words"].sample == 24 - unanswered
    assert sum(done) == pytest.approx(100)
    with model_server(lambda messages: "No.") as (url, _), pytest.raises(NotMeasuredError, match="no legal card"):
        text.measure(llm(url), work(0.01))


def test_tasks_by_name_and_a_resumed_suite(tmp_path):
    suite(("greedy", "careful"), share=0.01, only=("text",), folder=tmp_path / "s")
    assert sorted(path.name for path in (tmp_path / "s" / "tasks").iterdir()) == ["1-text.json", "2-text.json"]
    kept = json.loads((tmp_path / "s" / "config.json").read_text())
    assert (kept["share"], set(kept["skip"])) == (0.01, set(NAMES) - {"text"})
    suite(("greedy", "careful"), share=0.01, only=("text",), folder=tmp_path / "s")
    with refused("--only"):
        suite(("greedy",), only=("text",), skip=("time",))
    with refused("only=texts"):
        suite(("greedy",), only=("texts",))
