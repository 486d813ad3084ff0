"""R-NaD: where its update leads, what it pays for later decisions, and when its reference policy moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from crib_env.train import rnad
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.rnad import RNaD
from tests.helpers.learner_runs import new_run, run, stopped_run
from tests.helpers.self_play import played_by, silence
from tests.helpers.small_settings import RNAD as SMALL


def learner_and_decisions(games, **settings):
    torch.manual_seed(0)
    learner = RNaD(replace(SMALL, episode="pegging", **settings))
    return learner, played_by(learner, games)


def test_updates_lead_to_the_fixed_point_of_the_regularised_game():
    """π ∝ π_reg exp(Q / η) (Perolat et al. 2021)."""
    learner, played = learner_and_decisions(1, regularization=0.5, logit_bound=100.0, average_rate=1.0)
    one = played[:1]
    legal, later = one.gains[0] > -np.inf, 0.6 * np.sin(np.arange(52) % 13)
    values = (one.gains[0] + later).astype(np.float32)
    silence(learner.critics)
    learner.critics["play"].cards.bias.data[:] = torch.from_numpy(later[:13])
    log_reg = learner.log_reference(one, alpha=1.0)
    np.testing.assert_allclose(log_reg[0][legal], np.log(one.chances[0][legal]), atol=1e-4)
    for _ in range(400):
        learner.update("play", one, values[one.card], log_reg, rate=0.01)
    found = learner.online.chances(one, one.is_discard)[0]
    expected = np.where(legal, one.chances[0] * np.exp(values / 0.5), 0)
    np.testing.assert_allclose(found, expected / expected.sum(), atol=2e-3)


@pytest.mark.parametrize("outwards", [True, False])
def test_no_logit_is_driven_beyond_its_bound(outwards):
    """Of two cards that are as far apart as is allowed, the better one gains no more, and the worse one still does."""
    learner, played = learner_and_decisions(50, regularization=0.01, logit_bound=1e-4)
    legal = played.gains > -np.inf
    one = played[np.flatnonzero((legal.sum(axis=1) == 2) & (np.ptp(played.chances, axis=1) > 0.1))[:1]]
    silence(learner.critics)
    likely, unlikely = one.chances[0].argsort()[:-3:-1]
    better = likely if outwards else unlikely
    learner.critics["play"].cards.bias.data[:] = 10.0 * (torch.arange(13) == int(better) % 13)
    value = one.gains[np.arange(1), one.card] + 10.0 * (one.card == better)
    learner.update("play", one, value.astype(np.float32), learner.log_reference(one, alpha=1.0), rate=0.01)
    moves = [bool(parameter.grad.any()) for parameter in learner.online.networks.networks["play"].parameters()]
    assert not any(moves) if outwards else any(moves)


def test_later_decisions_are_paid_as_the_paper_says():
    """By a loop over pairs of decisions: −η log π / π_reg of one's own, + of the opponent's, and Σ π Q − Q(a)."""
    learner, played = learner_and_decisions(30, regularization=0.5)
    log_reg = np.random.default_rng(0).normal(size=played.gains.shape).astype(np.float32)
    found = learner.later(played, log_reg)
    q = learner.values("play", played).detach().numpy()
    for t, chain in enumerate(played.chain):
        expected = 0.0
        for k in np.flatnonzero(played.chain // 2 == chain // 2):
            if played.turn[k] > played.turn[t]:
                legal, card = played.gains[k] > -np.inf, played.card[k]
                ratio = np.log(played.chances[k][legal]) - log_reg[k][legal]
                q_eta, chances = q[k][legal] - 0.5 * ratio, played.chances[k][legal]
                paid = -0.5 * (np.log(played.chances[k][card]) - log_reg[k][card])
                luck = chances @ q_eta - (q[k][card] + paid)
                expected += (paid + luck) * (1 if chain == played.chain[k] else -1)
        assert found[t] == pytest.approx(expected, abs=1e-4)


def test_the_luck_of_later_draws_is_taken_out_without_bias():
    learner, played = learner_and_decisions(3_000)
    luck = learner.later(played, learner.log_reference(played, alpha=1.0))  # π_reg is π: nothing paid
    of_dealer = luck[played.chain % 2 == 0]
    assert of_dealer.std() > 0.1
    assert abs(of_dealer.mean()) < 4 * of_dealer.std() / np.sqrt(3_000)


def test_the_reference_goes_from_the_last_to_the_next():
    learner, played = learner_and_decisions(20)
    learner.last_reference.networks.networks["play"].cards.bias.data[:] = torch.arange(13.0)
    legal = played.gains > -np.inf
    for alpha, policy in ((1.0, learner.reference), (0.0, learner.last_reference)):
        expected = np.log(policy.chances(played, played.is_discard)[legal])
        np.testing.assert_allclose(learner.log_reference(played, alpha)[legal], expected, atol=1e-4)
    ends = [learner.log_reference(played, alpha) for alpha in (0.0, 1.0)]
    np.testing.assert_allclose(learner.log_reference(played, 0.25), 0.75 * ends[0] + 0.25 * ends[1], atol=1e-4)


def test_the_target_network_becomes_the_reference_after_each_step(tmp_path):
    """Of 1,024 episodes in rounds of 128, two references: the fifth round begins with what the fourth ended with."""
    settings = replace(SMALL, evaluations=0, references=2)
    folder = stopped_run(rnad, settings, tmp_path, 512)
    held, _ = folder.load_checkpoint()
    _, parts = new_run(rnad, settings, tmp_path), RunFolder(folder.path)
    run(rnad, settings, parts)
    ended, _ = parts.load_checkpoint()
    names = [name.removeprefix("target.") for name in held if name.startswith("target.")]
    assert names
    for name in names:
        assert torch.equal(ended[f"reference.{name}"], held[f"target.{name}"])
        assert torch.equal(ended[f"last reference.{name}"], held[f"reference.{name}"])
        assert not torch.equal(held[f"reference.{name}"], held[f"target.{name}"])
