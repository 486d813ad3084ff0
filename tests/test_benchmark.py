"""The benchmark measures what it says and writes what is asked for; the speeds themselves are not tested."""

import json

import numpy as np
import pytest

from crib_env.evaluate.commands.benchmark import ROUNDS, RandomPlay, benchmark, pick_legal
from crib_env.kernels import streams


def test_picked_cards_are_legal_and_all_legal_cards_are_picked_equally_often():
    rng = np.random.default_rng(0)
    n_legal = rng.integers(7, size=1_000)
    masks = (rng.permuted(np.tile(np.arange(52), (1_000, 1)), axis=1) < n_legal[:, None]).astype(np.int8)
    words, cards, picked = streams(0, 1_000), np.zeros(1_000, np.int64), np.zeros((1_000, 52))
    rows = np.arange(1_000)
    for _ in range(400):
        pick_legal(masks, words, cards)
        picked[rows, cards] += 1
    assert (picked[n_legal == 0, 0] == 400).all()
    assert not picked[n_legal > 0][masks[n_legal > 0] == 0].any()
    shares = picked[n_legal == 4][masks[n_legal == 4] == 1] / 400
    assert abs(shares.mean() - 0.25) < 1e-9
    assert shares.std() == pytest.approx((0.25 * 0.75 / 400) ** 0.5, rel=0.1)


def test_steps_are_counted_without_those_that_begin_a_game():
    play = RandomPlay(100, episode="play", seat=0)
    begun = 0
    for _ in range(20):
        before = play._over.sum()
        begun += before
        assert play.run(calls=1) == 100 - before
    assert begun >= 300


def test_a_run_writes_json(tmp_path):
    json_file = tmp_path / "speed.json"
    benchmark(("games", "vector", "single"), 0.001, json_file)
    content = json.loads(json_file.read_text())
    assert {"numpy", "numba", "gymnasium"} <= content["machine"].keys()
    assert all(len(values) == ROUNDS and min(values) > 0 for values in content["per_second"].values())
