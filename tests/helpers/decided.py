"""Games after some decisions of a native player."""

from __future__ import annotations

from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.players.policies import RANDOM


def decided(n_decisions: int, n_games: int, seed: int = 5, policy: int = RANDOM, **options) -> GameBatch:
    """New games in which a native player has decided so many times, by default at random."""
    batch = GameBatch(streams(seed, n_games), **options)
    for _ in range(n_decisions):
        rows = batch.acting()
        batch.step(rows, batch.native_cards(rows, policy))
    return batch
