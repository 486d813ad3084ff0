"""NFSP: its average policy's step by hand, its reservoir, its draws, that it learns, and that a stopped run goes on."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from crib_env.agents import make_agent
from crib_env.agents.choosing import draw
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.train import nfsp
from crib_env.train.ddqn import transitions_of
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.nfsp import NFSP, BestResponses, mix
from crib_env.train.shared.experience import play_episodes, rewards_of
from crib_env.train.shared.replay import Reservoir
from crib_env.train.td import the_bits
from tests.helpers.decided import decided
from tests.helpers.learner_runs import class_of
from tests.helpers.small_settings import NFSP as SMALL


def new_learner(**changes):
    settings = replace(SMALL, **changes)
    torch.manual_seed(0)
    return NFSP(settings)


def choices(cards, legal):
    """BestResponses of these cards among these legal ones, all in one position."""
    gains = np.full((len(cards), 52), -np.inf, np.float32)
    gains[:, legal] = 0
    return BestResponses(np.ones((len(cards), 209), np.int8), gains, np.array(cards), np.ones(len(cards), bool))


def views_of_some_games():
    batch = decided(7, 200)
    return batch.views(batch.acting())


def test_a_step_of_the_average_policy_by_hand():
    """The gradient of a logit is its card's probability less how often it was chosen; of an illegal card nothing."""
    learner = new_learner(networks="one", inputs="bits")
    network = learner.networks["all"]
    for parameter in network.parameters():
        torch.nn.init.zeros_(parameter)
    network.cards.bias.data[[3, 7, 9]] = torch.log(torch.tensor([1.0, 3.0, 50.0]))
    loss = learner.imitate("all", choices([3, 7, 7, 7], [3, 7]), 0.01)["policy loss"]
    assert loss == pytest.approx(-(np.log(1 / 4) + 3 * np.log(3 / 4)) / 4, rel=1e-5)
    np.testing.assert_allclose(network.cards.bias.grad[[3, 7, 9]], [0.0, 0.0, 0.0], atol=1e-6)
    learner.imitate("all", choices([3, 3], [3, 7]), 0.01)
    np.testing.assert_allclose(network.cards.bias.grad[[3, 7, 9]], [1 / 4 - 1, 3 / 4, 0.0], atol=1e-6)
    three, seven, nine = network.cards.bias.detach()[[3, 7, 9]].tolist()
    assert three > 0.005
    assert seven < np.log(3.0) - 0.005
    assert nine == pytest.approx(np.log(50.0))


def test_cards_are_drawn_by_their_probability_and_always_legal():
    chances = np.zeros((10_000, 52))
    chances[:, [4, 8]] = 0.2, 0.8
    numbers = np.linspace(0, 1, 10_000)  # both ends included
    assert np.bincount(draw(chances, numbers), minlength=52)[[4, 8, 30]].tolist() == [2_000, 8_000, 0]
    rng = np.random.default_rng(0)
    chances = rng.random((10_000, 52)) * (rng.random((10_000, 52)) < 0.1)
    chances[np.arange(10_000), rng.integers(52, size=10_000)] = 0.5
    cards = draw(chances, numbers)
    assert chances[np.arange(10_000), cards].all()


def test_a_reservoir_keeps_all_that_was_added_with_equal_chances():
    capacity, n, repeats = 50, 400, 3_000
    rng, kept = np.random.default_rng(0), np.zeros(n)
    new = BestResponses(np.zeros((n, 1), np.int8), np.zeros((n, 52), np.float32), np.arange(n), np.ones(n, bool))
    for _ in range(repeats):
        reservoir = Reservoir(BestResponses.zeros(capacity, 1))
        for first, last in ((0, 30), (30, 70), (70, 71), (71, 400)):  # filled in the middle of a piece
            reservoir.add_sample(new[np.arange(first, last)], rng)
            assert len(reservoir) == min(last, capacity)
        held = reservoir[np.arange(capacity)].card
        assert len(set(held.tolist())) == capacity
        kept[held] += 1
    # Each is kept with a chance of 1/8. Of 400 nearly independent counts the chi-square has a mean of 400 and a
    # standard deviation of 28; the seed is fixed.
    expected = repeats * capacity / n
    assert abs(((kept - expected) ** 2).sum() / (expected * (1 - capacity / n)) - n) < 6 * 28


class HighestCard:
    def choose(self, seen, is_discard, numbers):
        return 51 - seen.legal[:, ::-1].argmax(axis=1)


def test_a_player_keeps_to_one_policy_through_an_episode():
    plays_best = np.random.default_rng(0).random(200) < 0.3
    policy = mix(lambda seen, *_: seen.legal.argmax(axis=1), HighestCard(), plays_best, np.random.default_rng(0))
    decisions = play_episodes(GameBatch(streams(1, 100), episode="deal"), policy, None, the_bits)
    legal = decisions.gains > -np.inf
    lowest, highest = legal.argmax(axis=1), 51 - legal[:, ::-1].argmax(axis=1)
    np.testing.assert_array_equal(decisions.card, np.where(plays_best[decisions.chain], lowest, highest))


def test_the_reservoir_takes_what_the_best_response_chose_and_replay_takes_everything():
    learner = new_learner(reservoir=5_000)
    plays_best = np.random.default_rng(0).random(200) < 0.3
    policy = mix(lambda seen, *_: seen.legal.argmax(axis=1), HighestCard(), plays_best, np.random.default_rng(0))
    decisions = play_episodes(
        GameBatch(streams(1, 100), episode="deal"), policy, None, learner.best.online.inputs.of_games
    )
    of_best = plays_best[decisions.chain]
    new = transitions_of(decisions, *rewards_of(decisions, True), 1.0)
    values = learner.learn(decisions, new, of_best, None, np.random.default_rng(0))
    assert values == {}  # no step yet
    for phase, is_discard in (("discard", True), ("play", False)):
        of_phase = decisions.is_discard == is_discard
        assert len(learner.reservoirs[phase]) == (of_phase & of_best).sum() > 0
        assert len(learner.best.memories[phase]) == of_phase.sum()
    values = learner.learn(decisions, new, of_best, 1e-3, np.random.default_rng(0))
    assert {"learning/loss", "learning/policy loss", "networks/average discard policy loss"} <= set(values)


def test_the_command_leaves_weights_that_play(tmp_path):
    folder = RunFolder.create("nfsp", SMALL, tmp_path)
    run_learner(class_of(nfsp), SMALL, folder)
    assert json.loads((folder.path / "summary.json").read_text())["episodes"] == SMALL.episodes
    views = views_of_some_games()
    drawn, again, other, likely = (
        make_agent(f"nfsp:{folder.final}{setting}").act(views) for setting in ("", "", ",seed=1", ",plays=mode")
    )
    np.testing.assert_array_equal(make_agent(str(folder.path)).act(views), drawn)
    np.testing.assert_array_equal(drawn, again)
    assert (drawn != other).any()
    assert (drawn != likely).any()
