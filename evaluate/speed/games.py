"""Speed of whole games in the engine, and of the batch that this project's learners use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import GAME, OVER, begin_deal, begin_game, shuffle, step
from crib_env.evaluate.speed.measuring import Measurement
from crib_env.kernels import kernel, streams
from crib_env.players.policies import GREEDY, RANDOM, native_card

ENGINE = "random full games, engine"


@kernel
def play_games(games, policy, n):
    """Plays ``n`` games in the record ``games[0]`` with one native policy in both seats; the number of decisions."""
    g, decisions = games[0], 0
    for _ in range(n):
        begin_game(g, 0, -1, -1, -1, -1)
        shuffle(g)
        begin_deal(g)
        while g["phase"] != OVER:
            step(g, native_card(g, policy))
        decisions += g["decisions"]
    return decisions


def new_game(seed: int) -> np.ndarray:
    """An array of one record, with a random stream."""
    games = np.zeros(1, GAME)
    games["episode_stream"] = streams(seed, 1)
    return games


def _native(policy: int, n: int) -> Callable[[], int]:
    games = new_game(0)

    def run() -> int:
        play_games(games, policy, n)
        return n

    return run


def _random_batch(n: int) -> Callable[[], int]:
    """Random deals through the batch with observations and masks written; the number of decisions."""
    seed = iter(range(10**9))

    def run() -> int:
        batch = GameBatch(streams(next(seed), n), episode="deal")
        decisions = 0
        while len(rows := batch.acting()):
            batch.observe(rows)
            batch.step(rows, batch.native_cards(rows, RANDOM))
            decisions += len(rows)
        return decisions

    return run


def measurements() -> list[Measurement]:
    """Random and greedy games, and random decisions of a batch."""
    sample = 10_000
    decisions = play_games(new_game(1), RANDOM, sample) / sample
    return [
        Measurement(ENGINE, _native(RANDOM, 2_000), also=("random decisions, engine", decisions)),
        Measurement("greedy full games, engine", _native(GREEDY, 100)),
        Measurement("random decisions of a batch, 4,096 deals, observations and masks", _random_batch(4_096)),
    ]
