"""The discard game's learner: a step by hand, how players are measured, that it learns, and that runs go on."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from crib_env import discard_statistics, score_show
from crib_env.engine import GAME
from crib_env.evaluate.runs.format import POINTS_A_HAND, band_of
from crib_env.exact.discard_means import EXACT_MEANS
from crib_env.exact.discard_statistics import PLACES
from crib_env.train import discard_game
from crib_env.train.discard_game import (
    PRESETS,
    DiscardGame,
    DiscardPlayer,
    hand_totals,
    kept_of,
    measure,
    random_hands,
)
from crib_env.train.loop.run import Round, run_learner
from crib_env.train.loop.run_folder import RunFolder
from tests.helpers.engine_calls import shuffle
from tests.helpers.learner_runs import class_of, new_run
from tests.helpers.small_settings import DISCARD_GAME_PAPER as PAPER


def new_player(activation=torch.nn.ReLU, hidden=(16,), seed=0):
    torch.manual_seed(seed)
    return DiscardPlayer(activation, hidden)


def a_round(episodes, rate, seed=0):
    return Round(episodes, 0, 0.0, rate, np.random.default_rng(seed))


def test_kept_hands_are_in_the_order_of_discards():
    hands = random_hands(np.random.default_rng(0), 50)
    kept = kept_of(hands).reshape(50, 15, 52)
    for hand, states in zip(hands, kept):
        for (i, j), state in zip(PLACES, states):
            assert np.flatnonzero(state).tolist() == [card for k, card in enumerate(hand) if k not in (i, j)]
    np.testing.assert_allclose(hand_totals(hands) / 46, discard_statistics(hands)["hand_mean"])


def test_hands_are_dealt_evenly():
    hands = random_hands(np.random.default_rng(1), 20_000)
    assert (np.diff(hands, axis=1) > 0).all()
    counts = np.bincount(hands.ravel(), minlength=52)
    assert abs(counts - 20_000 * 6 / 52).max() < 6 * np.sqrt(20_000 * 6 / 52)


def test_a_sampled_hand_is_learned_by_hand():
    """Six cards and a starter; a step of the rate times the error along torch's gradient of the best four's value."""
    for seed in range(10):
        learner, slow = DiscardGame(replace(PAPER, hidden=(6,))), new_player(torch.nn.Sigmoid, (6,), seed)
        player = learner.agent
        slow.network.load_state_dict(player.network.state_dict())
        learner.play_and_learn(a_round(1, 0.05, seed))

        games = np.zeros(1, GAME)
        games["deal_stream"] = np.random.default_rng(seed).integers(2**64, dtype=np.uint64)
        shuffle(games)
        hand = games["cards"][:1, :6].astype(np.int64)
        kept = kept_of(hand)[slow.discards(hand)[0]]
        points = score_show(np.flatnonzero(kept).tolist(), int(games["cards"][0, 12]))
        worth = slow.network(torch.from_numpy(kept)[None].float())[0]
        worth.backward()
        for after, before in zip(player.network.parameters(), slow.network.parameters()):
            expected = before.detach() + 0.05 * (points - worth.item()) * before.grad
            torch.testing.assert_close(after.detach(), expected, rtol=1e-4, atol=1e-5)


def test_exact_values_are_learned():
    torch.manual_seed(0)
    learner = DiscardGame(replace(PRESETS["default"], hidden=(64,), batch_size=30, precision="float32"))
    player = learner.agent
    losses = [learner.play_and_learn(a_round(20, 3e-3))["learning/loss"] for _ in range(120)]  # the same hands
    assert losses[-1] < 0.5 < 10 < losses[0]
    hands = random_hands(np.random.default_rng(0), 20)
    means = hand_totals(hands) / 46
    chosen = means[np.arange(20), player.discards(hands)]
    assert (means.max(axis=1) - chosen).mean() < 0.3


class Ideal:
    def discards(self, hands):
        return hand_totals(hands).argmax(axis=1)


class AnyTwo:
    def __init__(self):
        self._rng = np.random.default_rng(0)

    def discards(self, hands):
        return self._rng.integers(15, size=len(hands))


def measured(player, hands, seed, tell=lambda done: None):
    """Mean points a hand, and the ends of the interval."""
    found = measure(player, hands, seed, tell)
    return [found[tag] for tag in (POINTS_A_HAND, *band_of(POINTS_A_HAND))]


def test_the_ideal_player_is_measured_exactly_and_a_random_one_within_the_interval():
    assert measured(Ideal(), 3_000, 0) == [float(EXACT_MEANS["ideal"])] * 3
    seen = []
    mean, low, high = measured(AnyTwo(), 50_000, 1, seen.append)
    half = (high - low) / 2
    assert half < 0.03
    assert abs(mean - float(EXACT_MEANS["random"])) < 3 * half  # six standard errors
    assert sum(seen) == 50_000


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "least"), [("default", 8.29), ("paper", 7.8)])
def test_presets_learn_the_game(tmp_path, preset, least):
    player, _ = new_run(discard_game, replace(PRESETS[preset], evaluations=0), tmp_path)
    assert measured(player, 100_000, 0)[1] > least


def test_the_command_measures_points_a_hand(tmp_path):
    folder = RunFolder.create("discard-game", PAPER, tmp_path)
    run_learner(class_of(discard_game), PAPER, folder)
    scalars = json.loads((folder.path / "summary.json").read_text())["scalars"]
    low, high = (scalars[tag] for tag in band_of(POINTS_A_HAND))
    assert low < scalars[POINTS_A_HAND] < high
    assert folder.final.exists()
