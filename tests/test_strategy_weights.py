"""Lang's learner and player: the update by hand, the choice, exploration, resumed runs, files, nothing hidden."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from crib_env.agents import make_agent
from crib_env.agents.choosing import six_dealt
from crib_env.agents.networks.weights_file import save_tensors
from crib_env.agents.strategy_weights import SHAPE, StrategyWeightsAgent, pegging_values, starting_weights
from crib_env.engine import GAME
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.matches.mirrored import play_series, wins_series
from crib_env.evaluate.runs.format import snapshots_of
from crib_env.exact.discard_statistics import PLACES
from crib_env.tables.shipped import standard_pegging
from crib_env.train import strategy_weights as learner
from crib_env.train.loop.run import Round
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.strategy_weights import (
    PRESETS,
    StrategyWeights,
    blend_all,
    credits,
    draw,
    find_advocates,
    play_and_learn,
    update,
    variance_of,
    weights_at,
)
from tests.helpers.decided import decided
from tests.helpers.desirabilities import desirabilities
from tests.helpers.learner_runs import finished_run, new_run, run, stopped_run
from tests.helpers.refusals import refused
from tests.helpers.small_settings import STRATEGY_WEIGHTS as SMALL


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small run: its folder, agent and summary."""
    return finished_run(learner, SMALL, tmp_path_factory.mktemp("runs"))


def views_of(batch):
    return batch.views(batch.acting())


def credited(expected, margin, credit_decay):
    out = np.empty(len(expected))
    credits(np.array(expected, float), margin, credit_decay, out)
    return out


def test_the_factor_fades_with_every_deal_before_the_last():
    # C = 2 · 30 = 60; two deals before the last c = 60 · 0.9² = 48.6 percent.
    points = credited([0, 0, 0], 30.0, 0.1)
    np.testing.assert_allclose(points, [24.3, 27, 30])
    np.testing.assert_allclose(credited([0, 0, 0], 30.0, 0.0), [30, 30, 30])
    np.testing.assert_allclose(credited([0, 0, 0], 30.0, 1.0), [0, 0, 30])


def test_a_deal_is_credited_with_what_it_changed():
    # Expected 2, then 10, then 5; the game ends with 9: changes of 8, -5 and 4.
    np.testing.assert_allclose(credited([2, 10, 5], 9.0, 1.0), [8, -5, 4])
    np.testing.assert_allclose(credited([2, 10, 5], 9.0, 0.5), [8 - 5 / 2 + 4 / 4, -5 + 4 / 2, 4])
    np.testing.assert_allclose(credited([2, 10, 5], 9.0, 0.0), [9 - 2, 9 - 10, 9 - 5])


def test_advocates_weights_are_multiplied_and_all_scaled_to_one():
    weights = np.array([0.2, 0.3, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
    advocates = np.array([True, False, True, False, False, False, False, False])
    # 0.2 · 2 = 0.4 and 0.1 · 2 = 0.2 make the sum 1.3.
    expected = np.array([0.4, 0.3, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05]) / 1.3
    row = weights.copy()
    update(row, advocates, 2.0, np.inf)
    np.testing.assert_allclose(row, expected)
    update(row, advocates, 0.5, np.inf)  # and back
    np.testing.assert_allclose(row, weights)


def test_the_cap_holds_before_scaling_and_for_advocates_alone():
    row = np.array([0.4, 0.6, 0, 0, 0, 0, 0, 0]) + 1e-6
    update(row, np.arange(8) == 0, 10.0, 0.5)
    np.testing.assert_allclose(row[:2], [0.5 / 1.1, 0.6 / 1.1], rtol=1e-4)
    row = np.full(8, 0.125)
    update(row, np.arange(8) == 0, 1e30, 0.5)
    np.testing.assert_allclose(row, [0.5 / 1.375, *[0.125 / 1.375] * 7])


def test_no_weight_falls_to_zero():
    row = np.full(8, 0.125, np.float32)
    for _ in range(50):
        update(row, np.arange(8) < 7, 0.01, np.inf)
    assert row.min() > 9e-7
    assert row.sum() == pytest.approx(1)
    for _ in range(50):
        update(row, np.arange(8) < 1, 10.0, np.inf)
    assert row[0] > 0.99


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2], [0, 1, 2]),
        ([0.1, 0.8, 0.7, 0.6, 0.6, 0.4, 0.6, 0.2], [1, 2, 3, 4, 6]),
        ([1, 1, 1, 1, 0.9, 0, 0, 0], [0, 1, 2, 3]),
    ],
)
def test_advocates_want_the_discard_most_and_ties_share(wanted, expected):
    out = np.empty(8, bool)
    find_advocates(np.array(wanted), 3, out)
    assert np.flatnonzero(out).tolist() == expected


def test_neighbouring_weights_are_blended():
    weights = starting_weights("random", 3)
    out = np.empty(8)
    for own, other in ((5, 7), (0, 120)):
        weights_at(weights, own, other, 1, 0.25, out)
        near = weights[max(own - 1, 0) : own + 2, max(other - 1, 0) : other + 2, 1].reshape(-1, 8)
        expected = 0.75 * weights[own, other, 1] + 0.25 * near.sum(axis=0)
        np.testing.assert_allclose(out, expected / expected.sum(), rtol=1e-6)
        weights_at(weights, own, other, 1, 0.0, out)
        np.testing.assert_array_equal(out, weights[own, other, 1])
    blended = np.empty_like(weights)
    blend_all(weights, 0.25, blended)
    weights_at(weights, 0, 120, 1, 0.25, out)
    np.testing.assert_array_equal(blended[0, 120, 1], out.astype(np.float32))


def test_the_variance_is_an_eighth_for_one_strategy_alone():
    assert variance_of(np.eye(8)[3]) == pytest.approx(1 / 8)
    assert variance_of(np.full(8, 1 / 8)) == pytest.approx(0)
    weights = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
    assert variance_of(weights) == pytest.approx(np.var(weights, ddof=1))


def test_places_are_drawn_in_proportion():
    values = np.array([0.0, 3.0, 1.0, 0.0])
    words = np.random.default_rng(0).integers(2**64, size=4_000, dtype=np.uint64)
    counts = np.bincount([draw(values, word) for word in words], minlength=4)
    assert counts[0] == counts[3] == 0
    assert abs(counts[1] - 3_000) < 4 * math.sqrt(4_000 * 0.75 * 0.25)


def learned(n=300, second_learns=True, **changes):
    """Weights of both seats, mean margins and tally after some games."""
    first, second = starting_weights("random", 1), starting_weights("random", 2)
    games, tally = np.zeros(1, GAME), np.zeros(4)
    games["episode_stream"] = 7
    expected = np.zeros(SHAPE[:3], np.float32)
    rule = replace(SMALL, **changes).rule
    pegging = pegging_values(standard_pegging())
    play_and_learn(games, n, (first, second), second_learns, expected, pegging, rule, tally)
    return first, second, expected, tally


def changed_places(weights, seed):
    return (weights != starting_weights("random", seed)).any(axis=-1)


def test_only_visited_places_of_learners_change():
    first, second, _, tally = learned(second_learns=False)
    np.testing.assert_array_equal(second, starting_weights("random", 2))
    changed = changed_places(first, 1)
    assert 300 < changed.sum() <= tally[1] / 2  # half of the discards are seat 0's
    np.testing.assert_allclose(first.sum(axis=-1), 1, atol=1e-6)
    own, other, _ = np.nonzero(changed)
    assert (np.abs(own - other) > 60).mean() < 0.05
    both = learned()
    assert changed_places(both[1], 2).sum() > 300


def test_exploration_follows_its_chance():
    _, _, _, tally = learned(exploration=0.3)
    n, explored = tally[1:3]
    assert abs(explored - 0.3 * n) < 4 * math.sqrt(n * 0.21)
    assert learned(exploration=0.0)[3][2] == 0
    assert learned(exploration=1.0)[3][2] == learned(exploration=1.0)[3][1]
    _, _, _, less = learned(exploration=0.3, exploration_rate="variance", explore_by="values")
    assert abs(less[2] - (0.3 * less[1] - less[3])) < 4 * math.sqrt(less[1] * 0.21)


def test_the_expected_margin_is_learned_and_not_without_baseline():
    _, _, expected, _ = learned(3_000, baseline=0.05, credit_decay=0.0)
    ahead = expected[60:100, 30:50][expected[60:100, 30:50] != 0].mean()
    behind = expected[30:50, 60:100][expected[30:50, 60:100] != 0].mean()
    assert ahead > 1
    assert behind < -1
    assert not learned(200, baseline=0.0)[2].any()


def test_a_learned_step_is_the_one_by_hand():
    """One game, one learner: each place it visited holds what the rule gives for the advocates of one discard."""
    before = starting_weights("random", 1)
    first, _, _, _ = learned(1, second_learns=False, exploration=0.0, baseline=0.0, scaling=50.0)
    places = np.argwhere(changed_places(first, 1))
    assert len(places) > 0
    steps = []
    for own, other, role in places:
        ratio = first[own, other, role] / before[own, other, role]
        low, high = ratio.min(), ratio.max()
        assert (np.isclose(ratio, low, rtol=1e-4) | np.isclose(ratio, high, rtol=1e-4)).all()
        steps.append((own + other, abs(math.log(high / low))))
    changes = [change for _, change in sorted(steps)]  # c_j / 100, in the order of the deals
    for earlier, later in itertools.pairwise(changes):
        assert earlier / later == pytest.approx(0.9, rel=1e-2)


@pytest.mark.parametrize("decisions", [0, 1, 2])
def test_the_agent_discards_by_weighted_desirability(decisions):
    """Its second card completes the best pair with the first, whatever that was."""
    views = views_of(decided(decisions, 200, start_spread=60))
    assert views.is_discard.all()
    agent = make_agent("strategy-weights:random,seed=4")
    wanted = desirabilities(six_dealt(views), dealer=views.is_dealer, records=standard_pegging())
    weights = starting_weights("random", 4)[views.scores[:, 0], views.scores[:, 1], views.is_dealer.astype(int)]
    values = np.einsum("bi,bij->bj", weights.astype(float), wanted)
    pairs, first = six_dealt(views)[:, PLACES], views.discards[:, 0]
    assert ((first >= 0) == (decisions == 1)).all()
    values[(first >= 0)[:, None] & ~(pairs == first[:, None, None]).any(axis=2)] = -1
    pair = pairs[np.arange(len(views)), values.argmax(axis=1)]
    np.testing.assert_array_equal(agent.act(views), np.where(pair[:, 0] == first, pair[:, 1], pair[:, 0]))
    assert (views.scores[:, 0] != views.scores[:, 1]).any()


def test_weights_that_are_no_strategy_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = starting_weights("random")
    for name, tensors in {"negative": {"weights": torch.from_numpy(-good)}, "empty": {}}.items():
        save_tensors(tmp_path / f"{name}.safetensors", tensors, {"learner": "strategy-weights"})
        with refused(name):
            make_agent(f"strategy-weights:{name}")
    StrategyWeightsAgent(good).save(tmp_path / "good.safetensors")
    np.testing.assert_array_equal(make_agent("strategy-weights:good").weights, good)


def test_a_run_leaves_weights_and_snapshots(finished):
    folder, agent, summary = finished
    assert summary["episodes"] == 2_500
    names = [path.name for path in snapshots_of(folder.path)]
    assert names == [f"games-{n:010d}.safetensors" for n in (0, 1_000, 2_000, 2_500)]
    last = make_agent(f"strategy-weights:{folder.path / 'snapshots' / 'agent-0' / 'games-0000002500'}")
    np.testing.assert_array_equal(last.weights, agent.weights)
    views = views_of(decided(0, 200, start_spread=60))
    for spec in (f"strategy-weights:{folder.final}", str(folder.path)):
        np.testing.assert_array_equal(make_agent(spec).act(views), agent.act(views))


@pytest.mark.parametrize(("score", "winner"), [([121, 0], 0), ([0, 121], 1)])
def test_of_two_learners_the_winner_of_their_match_is_the_agent(tmp_path, monkeypatch, score, winner):
    settings = replace(SMALL, opponent="other", episodes=300, evaluations=0, neighbours=0.5, cap=0.8)
    monkeypatch.setattr("crib_env.train.strategy_weights.play_series", lambda *_: np.array([score] * 100))
    folder = stopped_run(learner, replace(settings, episodes_at_once=100), tmp_path, 200)
    agent, _ = run(learner, replace(settings, episodes_at_once=100), RunFolder(folder.path))
    snapshots = snapshots_of(folder.path)
    assert {path.parent.name for path in snapshots} == {f"agent-{winner}"}
    np.testing.assert_array_equal(StrategyWeightsAgent.load(snapshots[-1]).weights, agent.weights)


def test_a_static_opponent_never_learns():
    trainee = StrategyWeights(replace(SMALL, opponent="static", episodes=200))
    before = trainee.weights.copy()
    trainee.play_and_learn(Round(200, 1, 0.0, 0.0, np.random.default_rng(0)))
    assert (trainee.weights[0] != before[0]).any()
    np.testing.assert_array_equal(trainee.weights[1], before[1])


def test_a_series_is_judged_by_match_points_then_spread():
    scores = np.array([[121, 90], [100, 121], [91, 121], [121, 120]])
    assert wins_series(scores)
    assert not wins_series(scores[1:3])
    assert not wins_series(np.array([[121, 100], [99, 121]]))  # 2:2, and one point less


def test_players_of_a_series_change_seats():
    one, two = make_agent("greedy"), make_agent("random")
    scores = play_series(one, two, 200, 3)
    assert scores.shape == (200, 2)
    assert (scores[:, 0] == 121).sum() > 180
    assert (play_series(two, one, 200, 3)[:, 0] == 121).sum() < 20


@pytest.mark.slow
def test_it_beats_random_weights(tmp_path):
    settings = replace(PRESETS["default"], episodes=200_000, evaluations=0)
    agent, _ = new_run(learner, settings, tmp_path)
    assert play_match(agent, make_agent("strategy-weights:random,seed=77"), 10_000).interval[0] > 0.5
