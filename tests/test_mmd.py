"""Magnetic mirror descent: the closed form of its update."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.train.mmd import MMD
from tests.helpers.self_play import played_by, silence
from tests.helpers.small_settings import MMD as SMALL


def test_an_update_leads_to_the_closed_form_of_the_paper():
    """π ∝ (π_t exp(η Q))^(1 / (1 + α η)), for a uniform magnet (Sokota et al. 2023, section 4)."""
    torch.manual_seed(0)
    settings = replace(SMALL, episode="pegging", step_size=2.0, average_rate=1.0)
    learner = MMD(settings)
    _, played = played_by(learner, GameBatch(streams(1, 1), episode="pegging", skip_forced=True))
    one = played[:1]
    legal = one.gains[0] > -np.inf
    values = np.where(legal, one.gains[0], 0)
    silence(learner.critic.networks)
    returns = values[one.card].astype(np.float32)
    for _ in range(150):
        learner.update("play", one, returns, temperature=0.4, rate=0.02)
    outputs = learner.online.networks.outputs(one.inputs, one.is_discard).detach().numpy()[0]
    logits = np.where(legal, outputs + values, -np.inf)
    expected = np.where(legal, (one.chances[0] * np.exp(2.0 * values)) ** (1 / 1.8), 0)
    np.testing.assert_allclose(np.exp(logits) / np.exp(logits).sum(), expected / expected.sum(), atol=2e-3)
