"""Every learner of the play trains in the pegging episode, and what it trains plays it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.batch import GameBatch, discards_worth
from crib_env.evaluate.runs.format import band_of, margin_tag
from crib_env.evaluate.runs.learning_curves import read_scalars
from crib_env.evaluate.runs.table import read_run
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.kernels import streams
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.train import td
from crib_env.train.loop import strength
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.registry import LEARNERS
from crib_env.train.shared.experience import play_episodes
from crib_env.train.td import the_bits
from tests.helpers.killed_runs import KINDS
from tests.helpers.learner_runs import class_of, finished_run, new_run, run, stopped_run
from tests.helpers.pegging_matches import net_points
from tests.helpers.refusals import refused
from tests.helpers.solved_play import learn_from_a_small_game

# Those that draw by another seed when they are loaded, and those whose weights are rounded.
ROUNDED = ("mmd", "mmd-tables", "nfsp", "rnad", "best")
# The others have no play.
NAMES = sorted(set(LEARNERS) - {"discard-game", "strategy-weights"})
WITH_FEWER_CARDS = [name for name in NAMES if name != "best"]  # its solution is of four cards


def small_settings(name, **settings):
    learner, small, _ = KINDS[name]
    few = {"episodes": 2 * small.episodes_at_once, "evaluations": 0, "episode": "pegging"}
    return learner, replace(small, **{**few, **settings})


@pytest.mark.parametrize("name", WITH_FEWER_CARDS)
def test_fewer_cards_are_for_pegging(name):
    with refused("cards=3"):
        small_settings(name, cards=3, episode="deal")


@pytest.mark.parametrize(
    ("name", "fewer"), [*((name, {}) for name in NAMES), *((name, {"cards": 2}) for name in WITH_FEWER_CARDS)]
)
def test_trains_and_plays(name, fewer, tmp_path, monkeypatch):
    learn_from_a_small_game(monkeypatch)
    learner, settings = small_settings(name, **fewer)
    agent, summary = new_run(learner, settings, tmp_path)
    assert summary["episodes"] == settings.episodes
    agent.save(tmp_path / "weights.safetensors")
    loaded = make_agent(f"{name}:{tmp_path / 'weights.safetensors'}")
    batch = GameBatch(streams(1, 30), episode="pegging", **fewer)
    while len(rows := batch.acting()):
        views = batch.views(rows)
        cards = agent.act(views)
        assert views.action_mask[np.arange(len(rows)), cards].all()
        if name not in ROUNDED:
            np.testing.assert_array_equal(loaded.act(views), cards)
        batch.step(rows, cards)


def test_traces_learn_from_eight_cards(tmp_path):
    learner, settings = small_settings("td", updates="traces", hidden=(8,), epsilon=0.0, final_epsilon=0.0)
    _, summary = new_run(learner, settings, tmp_path)
    assert summary["episodes"] == settings.episodes


def test_rewards_are_the_points_of_the_play():
    """There is nothing but luck in the deal to settle: the two kinds of reward are one."""
    batch = GameBatch(streams(2, 50), episode="pegging")
    everyone = np.arange(50)
    assert not discards_worth(batch.games, everyone, np.zeros(50, np.int64)).any()
    decisions = play_episodes(batch, lambda seen, is_discard, chain: seen.legal.argmax(axis=1), None, the_bits)
    assert not decisions.is_discard.any()
    assert np.bincount(decisions.chain).tolist() == [4] * 100
    np.testing.assert_array_equal(decisions.points, decisions.settled)
    np.testing.assert_array_equal(decisions.final_points, decisions.final_settled)
    assert decisions.final_points.any()


def test_strength_is_that_in_pegging(tmp_path):
    """Of the run, in its summary and the table of runs; the discards of whole games were not trained."""
    learner, settings = small_settings("td", evaluations=1, evaluation_games=20, final_games=60)
    folder = RunFolder.create("td", settings, tmp_path)
    run_learner(class_of(learner), settings, folder)
    scalars = json.loads((folder.path / "summary.json").read_text())["scalars"]
    net = scalars["net points a game/against greedy"]
    low, high = (scalars[f"uncertainty/net points a game against greedy {end}"] for end in ("low", "high"))
    assert low < net < high
    row = read_run(folder.path)
    assert row["net points against greedy"].startswith(f"{net:+.2f} ±")
    assert row["games or hands"] == "60"


@pytest.mark.parametrize(
    ("size", "expected"), [(1, [13, 25, 50, 100]), (10, [20, 30, 50, 100]), (30, [30, 60, 100]), (100, [100])]
)
def test_exploitability_is_measured_after_half_as_many_episodes_each_time_back(size, expected):
    ends = [*range(size, 100, size), 100]
    found = [now for before, now in zip([0, *ends], ends) if strength.is_doubled(before, now, 100, 4)]
    assert found == expected
    assert not any(strength.is_doubled(before, now, 100, 0) for before, now in zip([0, *ends], ends))


def test_net_points_are_measured_in_mirrored_games():
    results = strength.pegging_games(4).play(make_agent("greedy"), 200, 1, lambda done: None)
    tags = (margin_tag(name) for name in strength.BASELINES)
    against_itself, against_random = ([results[one] for one in (tag, *band_of(tag))] for tag in tags)
    assert against_itself == [0.0] * 3  # the same cards from both sides
    mean, error = net_points(make_agent("greedy"), make_agent("random"), pairs=400)
    _, low, high = against_random
    assert low - 2 * error < mean < high + 2 * error


def test_it_is_learned(tmp_path):
    """Eight thousand episodes beat random cards by more than half a point a game."""
    learner, settings = small_settings("td", episodes=8_192, episodes_at_once=512, hidden=(64,), batch_size=128)
    agent, _ = new_run(learner, settings, tmp_path)
    mean, error = net_points(agent, make_agent("random"), pairs=400)
    assert mean - 3 * error > 0.5


TWO_CARDS = {"episode": "pegging", "cards": 2, "hidden": (16,), "batch_size": 32, "evaluations": 0}
TD = td.TDSettings(episodes=1_024, episodes_at_once=256, exploitability=2, **TWO_CARDS)


def measured(folder):
    """Exploitability by the number of episodes."""
    return dict(zip(*read_scalars(folder.path, "strength/exploitability")))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_run(td, TD, tmp_path_factory.mktemp("runs, with two cards"))[0]


def test_a_curve_has_the_exploitability_of_the_player_as_it_was(finished):
    found = measured(finished)
    assert list(found) == [0, 512, 1_024]
    agent, game = make_agent(f"td:path={finished.final}"), PlayGame(start=start_of_play(2), threads=1)
    assert found[1_024] == pytest.approx(exploitability(agent, game).mean, abs=1e-7)
    assert found[0] != found[512] != found[1_024]
    for end in ("low", "high"):  # td sees no suits
        assert dict(zip(*read_scalars(finished.path, f"uncertainty/exploitability {end}"))) == found


def test_a_stopped_run_measures_the_rest_when_it_goes_on(finished, tmp_path):
    folder = stopped_run(td, TD, tmp_path, 768)
    assert list(measured(folder)) == [0, 512]
    run(td, TD, RunFolder(folder.path))
    assert measured(folder) == measured(finished)


def test_measuring_changes_nothing(finished, tmp_path):
    folder, _, _ = finished_run(td, td.TDSettings(**{**vars(TD), "exploitability": 0}), tmp_path)
    assert folder.final.read_bytes() == finished.final.read_bytes()


def test_it_is_measured_in_pegging_alone():
    with refused("exploitability=1"):
        td.TDSettings(exploitability=1, episode="deal")
