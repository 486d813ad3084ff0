"""Prompts for language models: what is asked, and what the answers are worth."""

import numpy as np
import pytest

from crib_env import decisions, parse_cards
from crib_env.agents import make_agent
from crib_env.agents.llm.agent import question
from crib_env.evaluate.commands.dataset import prompts
from crib_env.evaluate.language.episode import Episode
from crib_env.evaluate.skill.positions import batch_of
from crib_env.evaluate.skill.suite import text
from crib_env.evaluate.skill.suite.task import Work
from tests.helpers.model_server import PlayerInWords
from tests.helpers.refusals import refused


def written(path, *given):
    parquet = pytest.importorskip("pyarrow.parquet")
    prompts(path, *given)
    return parquet.read_table(path).to_pylist()


def test_they_are_the_questions_of_the_tier_and_a_player_has_its_figure(tmp_path):
    rows, player = written(tmp_path / "a.parquet", text.N, 0), PlayerInWords("greedy")
    views = batch_of(text.positions()[0]).views(np.arange(text.N))
    assert [tuple(row["prompt"]) for row in rows] == [question(view) for view in decisions(views)]
    lost = []
    for row in rows:
        cards = {*parse_cards(player.cards(row["prompt"][-1]["content"]))}
        (chosen,) = [k for k, pair in enumerate(row["discards"]) if {*parse_cards(pair)} == cards]
        lost.append(max(row["values"]) - row["values"][chosen])
    wanted = text.measure(make_agent("greedy"), Work(1.0, 1, lambda done: None))
    assert np.mean(lost) == pytest.approx(wanted["points lost a discard in words"].mean, abs=1e-12)


@pytest.mark.parametrize("unit", ["points", "chance"])
def test_values_are_those_of_the_episode(tmp_path, unit):
    for row in written(tmp_path / "a.parquet", 3, 500, unit):
        episode = Episode(row["task"], row["number"], unit=unit)
        assert row["prompt"][-1]["content"] == episode.asked(episode.words())
        losses = {choice.cards: choice.loss for choice in episode.losses()}
        found = {
            tuple(sorted(parse_cards(pair))): max(row["values"]) - value
            for pair, value in zip(row["discards"], row["values"])
        }
        assert found == losses


def test_hands_that_are_not_there_are_refused(tmp_path):
    with refused("hands=2", "99999"):
        prompts(tmp_path / "a.parquet", 2, 99_999)
    assert not list(tmp_path.iterdir())
