"""Magnetic mirror descent: the closed form of its update."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.train import mmd
from crib_env.train.__main__ import train
from crib_env.train.loop.run import Round
from crib_env.train.mmd import MMD
from crib_env.train.shared.self_play import WIN_IN_POINTS
from tests.helpers.learner_runs import new_run, stopped_run
from tests.helpers.self_play import played_by, silence
from tests.helpers.small_settings import MMD as SMALL


def test_an_update_leads_to_the_closed_form_of_the_paper():
    """π ∝ (π_t exp(η Q))^(1 / (1 + α η)), for a uniform magnet (Sokota et al. 2023, section 4)."""
    torch.manual_seed(0)
    settings = replace(SMALL, episode="pegging", step_size=2.0, average_rate=1.0)
    learner = MMD(settings)
    played = played_by(learner, 1)
    one = played[:1]
    legal = one.gains[0] > -np.inf
    values = np.where(legal, one.gains[0], 0)
    silence(learner.critics)
    returns = values[one.card].astype(np.float32)
    for _ in range(150):
        learner.update("play", one, returns, temperature=0.4, rate=0.02)
    outputs = learner.online.networks.outputs(one.inputs, one.is_discard).detach().numpy()[0]
    logits = np.where(legal, outputs + values, -np.inf)
    expected = np.where(legal, (one.chances[0] * np.exp(2.0 * values)) ** (1 / 1.8), 0)
    np.testing.assert_allclose(np.exp(logits) / np.exp(logits).sum(), expected / expected.sum(), atol=2e-3)


def test_steps_as_a_gpu_takes_them_are_those_of_a_processor():
    found = []
    for in_graphs in (False, True):
        torch.manual_seed(0)
        learner = MMD(replace(SMALL, episode="deal", batch_size=64))
        played = learner.play(Round(64, 0, 0.0, 0.0, np.random.default_rng(0)))
        of_play = (~played.is_discard).nonzero()[:128, 0]  # whole batches
        played, rng = played[torch.cat([played.is_discard.nonzero()[:128, 0], of_play])], np.random.default_rng(1)
        if in_graphs:
            scalars = learner.in_graphs(played, rng, 0.3, 1e-2)
        else:

            def update(name, rows, learner=learner, played=played):
                return learner.update(name, played[rows], played.returns[rows], 0.3, 1e-2)

            scalars = learner.in_batches(played, rng, update)
        found.append((scalars, learner.agent.networks.state_dict()))
    (one, weights), (two, others) = found
    assert one == two
    assert all(torch.equal(weights[name], others[name]) for name in weights)


def test_whole_games_are_played_for_the_win(tmp_path):
    settings = replace(SMALL, episode="game", episodes=64, episodes_at_once=32, evaluations=0)
    agent, summary = new_run(mmd, settings, tmp_path)
    assert summary["episodes"] > 0
    learner = MMD(settings)
    played = learner.play(Round(40, 0, 0.0, 0.0, np.random.default_rng(0)))
    assert set(played.final.tolist()) == {-WIN_IN_POINTS, WIN_IN_POINTS}
    assert (played.standing == 0).all()
    wins = set(zip(played.chain.tolist(), played.final.tolist()))
    assert len(wins) == 80  # both seats of each game
    assert sum(final for _, final in wins) == 0
    views = GameBatch(streams(2, 60), start_spread=20).views(np.arange(60))
    ahead = replace(views, scores=np.maximum(views.scores, np.array([110, 0], np.int16)))
    one, two = (agent.probabilities(seen) for seen in (views, ahead))
    assert views.action_mask[np.arange(60), agent.act(views)].all()
    assert (one != two).any()  # it sees the scores


def test_a_run_may_go_on_on_another_device(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = stopped_run(mmd, replace(SMALL, evaluations=0), tmp_path, 512)
    path = folder.path / "config.json"
    config = json.loads(path.read_text())
    config["settings"]["device"] = "cuda"
    path.write_text(json.dumps(config))
    train(["mmd", "--resume", str(folder.path), "--device", "cpu"])
    assert "final.safetensors" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        train(["mmd", "--resume", str(folder.path), "--device", "tpu"])
    assert "device='tpu' is not allowed" in capsys.readouterr().err
