"""What `mmd` and `rnad` share: the sparse layer, what a critic sees, and that a stopped run goes on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from crib_env.agents import make_agent
from crib_env.agents.networks.ddqn import SparseLinear
from crib_env.batch import GameBatch
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.kernels import streams
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.train import mmd, rnad
from crib_env.train.mmd import MMD
from tests.helpers import small_settings
from tests.helpers.learner_runs import name_of, new_run
from tests.helpers.self_play import played_by

SMALL = {mmd: small_settings.MMD, rnad: small_settings.RNAD}
each = pytest.mark.parametrize("learner", SMALL, ids=[name_of(learner) for learner in SMALL])


def test_the_first_layer_is_a_linear_layer():
    torch.manual_seed(0)
    linear = nn.Linear(70, 8)
    sparse = SparseLinear.of(linear)
    inputs = (torch.rand(33, 70) < 0.1).to(torch.int8)
    inputs[0] = 0
    inputs[1] = 1
    assert torch.allclose(sparse(inputs), linear(inputs.float()), atol=1e-5)
    found = torch.autograd.grad(sparse(inputs).square().sum(), [sparse.weight, sparse.bias])
    expected = torch.autograd.grad(linear(inputs.float()).square().sum(), [linear.weight, linear.bias])
    for one, two in zip(found, expected):
        assert torch.allclose(one, two, rtol=1e-4, atol=1e-4)


def test_the_critic_sees_the_cards_of_the_opponent():
    dealt = GameBatch(streams(3, 40), episode="deal").games["cards"][:, :12].reshape(40, 2, 6) % 13
    torch.manual_seed(0)
    played = played_by(MMD(small_settings.MMD), 40, seed=3, episode="deal")
    first = np.flatnonzero(np.append(True, played.chain[1:] != played.chain[:-1]))
    game, seat = played.chain[first] // 2, played.chain[first] % 2
    is_first = played.others[first].sum(axis=1) == 6  # the opponent has discarded nothing yet
    assert is_first.sum() > 0
    for row, g, s in zip(first[is_first], game[is_first], seat[is_first]):
        np.testing.assert_array_equal(
            played.others[row].reshape(4, 13).sum(axis=0), np.bincount(dealt[g, 1 - s], minlength=13)
        )


def test_the_average_soon_forgets_untrained_weights():
    torch.manual_seed(0)
    learner = MMD(replace(small_settings.MMD, episode="pegging", average_rate=0.005))
    before = learner.agent.networks.networks["play"].cards.bias.detach().clone()
    played = played_by(learner, 30)
    learner.update("play", played, played.returns, temperature=0.3, rate=0.01)
    now, average = (one.networks.networks["play"].cards.bias for one in (learner.online, learner.agent))
    assert not torch.allclose(now, before)
    assert torch.allclose(average, before.lerp(now, 9 / 11))


@each
def test_what_is_learned_is_harder_to_exploit(learner, tmp_path):
    few = {"cards": 2, "episodes": 16_384, "episodes_at_once": 1_024, "evaluations": 0}
    settings = replace(SMALL[learner], episode="pegging", hidden=(64,), average_rate=0.05, **few)
    game = PlayGame(start=start_of_play(2), threads=1)
    before, _ = new_run(learner, replace(settings, episodes=1_024, learning_rate=0.0), tmp_path)
    agent, _ = new_run(learner, settings, tmp_path)
    assert exploitability(agent, game).mean < 0.6 * exploitability(before, game).mean


@each
def test_it_draws_cards_and_takes_the_most_likely(learner, tmp_path):
    agent, _ = new_run(learner, replace(SMALL[learner], evaluations=0, episodes=128), tmp_path)
    agent.save(tmp_path / "weights.safetensors")
    views = GameBatch(streams(2, 300), episode="pegging").views(np.arange(300))
    drawn, mode = (make_agent(f"{name_of(learner)}:{tmp_path / 'weights'}{way}") for way in ("", ",plays=mode"))
    chances = drawn.probabilities(views)
    np.testing.assert_array_equal(mode.act(views) % 13, chances.reshape(-1, 4, 13).max(axis=1).argmax(axis=1))
    assert (drawn.act(views) != mode.act(views)).any()
    np.testing.assert_array_equal(mode.probabilities(views).argmax(axis=1), mode.act(views))
