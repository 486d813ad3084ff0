"""ESCHER: who draws from which policy, its regrets and the values behind them by hand, and what its fits come to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from crib_env.agents.networks.seen import Seen
from crib_env.gpu.games import TensorGames
from crib_env.kernels import streams
from crib_env.train.escher import ESCHER, Fitted, Visits, of_update_player, sampled
from crib_env.train.loop.run import Round
from crib_env.train.shared.self_play import self_play
from tests.helpers.self_play import silence
from tests.helpers.small_settings import ESCHER as SMALL


def learner_and_decisions(games, episode="pegging"):
    torch.manual_seed(0)
    learner = ESCHER(replace(SMALL, episode=episode))
    batch = TensorGames(streams(1, games), episode=episode, skip_forced=True)
    return learner, self_play(batch, learner.pi, np.random.default_rng(0), "float32", sampled)[0].numpy()


def test_cards_are_as_likely_as_their_regrets_if_these_are_positive():
    learner, played = learner_and_decisions(1)
    silence(learner.regret.networks.networks)
    bias = learner.regret.networks.networks["play"].cards.bias
    gains = np.full((3, 52), -np.inf, np.float32)
    gains[:, [3, 17, 8]] = 0.0, 0.5, 0.0  # a card of rank 4, one of rank 5, one of rank 9
    gains[1, 17], gains[2] = -np.inf, gains[2] - 9
    bias.data[[3, 4, 8]] = torch.tensor([1.0, 1.5, -2.0])
    found = learner.pi.chances(Seen(played.inputs[[0, 0, 0]], gains, None), np.zeros(3, bool))
    assert found[:, [3, 17, 8]].tolist() == pytest.approx(np.array([[1 / 3, 2 / 3, 0], [1, 0, 0], [0, 1, 0]]))
    assert found.sum(axis=1) == pytest.approx(np.ones(3))


def test_the_update_player_draws_uniformly_and_its_opponent_by_the_policy():
    _, played = learner_and_decisions(3_000)
    i, every = of_update_player(played.chain), np.arange(len(played))
    legal = played.gains > -np.inf
    assert 0.4 < i.mean() < 0.6
    first = np.flatnonzero(np.append(True, played.chain[1:] != played.chain[:-1]))
    assert len(set(played.chain[first[i[first]]] % 2)) == 2  # each seat has its turn
    pi, drawn = played.chances, {True: legal / legal.sum(axis=1, keepdims=True), False: played.chances}
    for updates in (True, False):
        rows = i == updates
        found = pi[every, played.card][rows].mean()
        mean = (drawn[updates] * pi)[rows].sum(axis=1)
        deviation = np.sqrt(((drawn[updates] * pi**2)[rows].sum(axis=1) - mean**2).sum()) / rows.sum()
        assert abs(found - mean.mean()) < 4 * deviation
        assert abs(found - (drawn[not updates] * pi)[rows].sum(axis=1).mean()) > 20 * deviation


@pytest.mark.parametrize("episode", ["pegging", "deal"])
def test_returns_are_points_and_corrected_values(episode):
    """By a loop over pairs: q(h, a) and all later errors of q, each times the traces c on the way to it."""
    learner, played = learner_and_decisions(30, episode)
    found, q = learner.returns(played), learner.q.judge_all(played)
    final, settled, i = played.final, played.standing, of_update_player(played.chain)
    ratio = played.chances[np.arange(len(q)), played.card] * (played.gains > -np.inf).sum(axis=1)
    c = np.where(i, np.minimum(1, ratio), 1)
    v = (played.chances * q).sum(axis=1)
    for first, chain in enumerate(played.chain):
        rows = np.flatnonzero((played.chain // 2 == chain // 2) & (played.turn >= played.turn[first]))
        rows = [n for n in rows[played.turn[rows].argsort()] if played.chain[n] == chain or not played.is_discard[n]]
        own = played.chain[rows] == chain
        standing = np.where(own, settled[rows], final[first] + final[rows] - settled[rows])
        of_state, of_card = ((1, -1) * x[rows][:, None] for x in (v, q[np.arange(len(q)), played.card]))
        expected = [standing + np.where(own, *x.T) for x in (of_state, of_card)]
        errors = np.append(expected[0][1:], final[first]) - expected[1]
        traces = np.cumprod([1, *c[rows[1:]]])
        assert found[first] == pytest.approx(of_card[0, 0] + errors @ traces, abs=1e-4)


def test_regrets_are_values_less_their_mean_by_the_policy():
    learner, played = learner_and_decisions(20)
    regrets, q, legal = learner.regrets(played), learner.q.judge_all(played), played.gains > -np.inf
    assert (played.chances * regrets).sum(axis=1) == pytest.approx(0, abs=1e-5)
    for row in range(len(played)):
        a, b = np.flatnonzero(legal[row])[[0, -1]]
        assert regrets[row, a] - regrets[row, b] == pytest.approx(q[row, a] - q[row, b], abs=1e-5)


def test_fits_come_to_the_mean_with_weights_of_time_squared():
    """Of regrets, and of chances, at one state that was visited after 1,000 and after 3,000 episodes: 1 to 9."""
    learner, played = learner_and_decisions(20)
    legal = played.gains > -np.inf
    row = [np.flatnonzero((legal.reshape(-1, 4, 13).sum(axis=1).max(axis=1) == 1) & (legal.sum(axis=1) == 3))[0]]
    decision, seen, legal = played[row * 2], Seen(played.inputs[row], played.gains[row], None), legal[row[0]]
    found = np.zeros((2, 52), np.float32)
    found[[0, 1], np.flatnonzero(legal)[:2]] = 1
    batch = replace(Visits.of(decision, found, 0), t=np.array([1_000, 3_000], np.float32))
    for fitted in (learner.regret, learner.average):
        for k in range(300):
            fitted.fit("play", batch, 0.02 if k < 200 else 0.002)
    regrets = learner.regret.networks.outputs(seen.inputs, decision.is_discard[:1]).detach().numpy() + seen.gains
    for means in (regrets[0], learner.agent.chances(seen, decision.is_discard[:1])[0]):
        assert means[legal] == pytest.approx([0.1, 0.9, 0.0], abs=0.01)


def test_the_update_player_gives_regrets_and_its_opponent_the_average(monkeypatch):
    added = {}
    monkeypatch.setattr(Fitted, "learn", lambda self, visits, now: added.update({self.what: visits}) or {})
    torch.manual_seed(0)
    learner = ESCHER(replace(SMALL, episode="pegging"))
    played, _ = learner.play(Round(40, 60, 0.0, 1e-3, np.random.default_rng(3)))
    learner.play_and_learn(Round(40, 60, 0.0, 1e-3, np.random.default_rng(3)))
    i = of_update_player(played.chain)
    for what, rows, numbers in (("regret", i, learner.regrets(played)), ("policy", ~i, played.chances)):
        expected = np.tile(added[what].numbers, 4)
        np.testing.assert_array_equal(added[what].inputs, played.inputs[rows])
        legal = played.gains[rows] > -np.inf
        np.testing.assert_allclose(expected[legal], numbers[rows][legal], atol=1e-6)
        assert set(added[what].t) == {100.0}
