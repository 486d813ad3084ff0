"""Mirrored games of pegging."""

from __future__ import annotations

import numpy as np

from crib_env.batch import GameBatch
from crib_env.kernels import streams


def net_points(one, other, pairs, seed=8):
    """Mean net points of a game, and its standard error, of mirrored pegging games."""
    batch = GameBatch(np.repeat(streams(seed, pairs), 2), episode="pegging")
    seats = np.tile([0, 1], pairs)
    while len(rows := batch.acting()):
        is_ones = batch.games["turn"][rows] == seats[rows]
        for agent, mine in ((one, rows[is_ones]), (other, rows[~is_ones])):
            if len(mine):
                batch.step(mine, agent.act(batch.views(mine)))
    scores = batch.games["scores"].astype(float)
    net = ((scores[:, 0] - scores[:, 1]) * (1 - 2 * seats)).reshape(-1, 2).mean(axis=1)
    return net.mean(), net.std() / np.sqrt(pairs)
