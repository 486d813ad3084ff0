"""Magnetic mirror descent: the closed form of its update, what its critic sees, and that a stopped run goes on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from crib_env.agents import make_agent
from crib_env.agents.networks.sparse import SparseLinear
from crib_env.batch import GameBatch
from crib_env.evaluate.skill.exploitability.pegging_game import exploitability
from crib_env.kernels import streams
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.train import mmd
from crib_env.train.experience import play_episodes
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.mmd import MMD
from crib_env.train.self_play import SelfPlay
from tests.helpers.learner_runs import new_run, run, stopped_run
from tests.helpers.small_settings import MMD as SMALL


def played_by(learner, games):
    policy = SelfPlay(learner.online, games, np.random.default_rng(0))
    decisions = play_episodes(games, policy, None, "209").decisions
    return decisions, policy.played()


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


def test_an_update_leads_to_the_closed_form_of_the_paper():
    """π ∝ (π_t exp(η Q))^(1 / (1 + α η)), for a uniform magnet (Sokota et al. 2023, section 4)."""
    torch.manual_seed(0)
    settings = replace(SMALL, episode="pegging", step_size=2.0, average_rate=1.0)
    learner = MMD(settings)
    _, played = played_by(learner, GameBatch(streams(1, 1), episode="pegging", skip_forced=True))
    one = played[:1]
    legal = one.gains[0] > -np.inf
    values = np.where(legal, one.gains[0], 0)  # the critic below says that nothing is gained later
    for critic in learner.critics.values():
        for parameter in critic.parameters():
            nn.init.zeros_(parameter)
            parameter.requires_grad_(requires_grad=False)
        critic.cards.bias.requires_grad_(requires_grad=True)
    returns = values[one.card].astype(np.float32)
    for _ in range(150):
        learner.update("play", one, returns, temperature=0.4, rate=0.02)
    outputs = learner.online.networks.outputs(one.inputs, one.is_discard).detach().numpy()[0]
    logits = np.where(legal, outputs + values, -np.inf)
    expected = np.where(legal, (one.chances[0] * np.exp(2.0 * values)) ** (1 / 1.8), 0)
    np.testing.assert_allclose(np.exp(logits) / np.exp(logits).sum(), expected / expected.sum(), atol=2e-3)


def test_the_critic_sees_the_cards_of_the_opponent():
    games = GameBatch(streams(3, 40), episode="deal", skip_forced=True)
    dealt = games.games["cards"][:, :12].reshape(40, 2, 6) % 13
    torch.manual_seed(0)
    decisions, played = played_by(MMD(SMALL), games)
    assert (decisions.card == played.card).all()
    first = np.flatnonzero(np.append(True, decisions.chain[1:] != decisions.chain[:-1]))
    game, seat = decisions.chain[first] // 2, decisions.chain[first] % 2
    is_first = played.others[first].sum(axis=1) == 6  # the opponent has discarded nothing yet
    assert is_first.sum() > 0
    for row, g, s in zip(first[is_first], game[is_first], seat[is_first]):
        np.testing.assert_array_equal(
            played.others[row].reshape(4, 13).sum(axis=0), np.bincount(dealt[g, 1 - s], minlength=13)
        )


def test_what_is_learned_is_harder_to_exploit(tmp_path):
    settings = replace(SMALL, episode="pegging", cards=2, episodes=16_384, episodes_at_once=1_024, evaluations=0)
    game = PlayGame(start=start_of_play(2), threads=1)
    agent, _ = new_run(mmd, replace(settings, hidden=(64,), average_rate=0.05), tmp_path)
    assert exploitability(agent, game).mean.most < 0.6 * exploitability(MMD(settings).agent, game).mean.most


def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path):
    settings = replace(SMALL, evaluations=0)
    whole, summary = new_run(mmd, settings, tmp_path)
    assert summary["episodes"] == 1_024
    assert all(n > 0 for n in summary["updates"].values())
    folder = stopped_run(mmd, settings, tmp_path, 512)
    agent, _ = run(mmd, settings, RunFolder(folder.path))
    one, two = agent.networks.state_dict(), whole.networks.state_dict()
    assert all(torch.equal(one[key], two[key]) for key in two)
    other, _ = new_run(mmd, replace(settings, seed=1), tmp_path)
    assert not all(torch.equal(other.networks.state_dict()[key], two[key]) for key in two)


def test_it_draws_cards_and_takes_the_most_likely(tmp_path):
    agent, _ = new_run(mmd, replace(SMALL, evaluations=0, episodes=128), tmp_path)
    agent.save(tmp_path / "weights.safetensors")
    views = GameBatch(streams(2, 300), episode="pegging").views(np.arange(300))
    drawn, mode = (make_agent(f"mmd:{tmp_path / 'weights'}{way}") for way in ("", ",plays=mode"))
    chances = drawn.probabilities(views)
    np.testing.assert_array_equal(mode.act(views) % 13, chances.reshape(-1, 4, 13).max(axis=1).argmax(axis=1))
    assert (drawn.act(views) != mode.act(views)).any()
    np.testing.assert_array_equal(mode.probabilities(views).argmax(axis=1), mode.act(views))
