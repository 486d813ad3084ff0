"""``GameBatch`` refuses bad arguments by name, and nothing has changed then; its threads and copies."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

from crib_env import GameBatch, streams
from crib_env.players.policies import GREEDY, RANDOM
from tests.helpers.refusals import refused

BAD_ROWS = {
    "below": ([0, -1], "rows[1]=-1 is not allowed: there are games 0 to 3"),
    "above": ([4], "rows[0]=4 is not allowed: there are games 0 to 3"),
    "far above": ([0, 2**62], f"rows[1]={2**62} is not allowed"),
    "above int64": (np.array([2**63 + 1], np.uint64), "rows[0]=-"),
    "repeated": ([1, 2, 1], "rows[2]=1 is not allowed: it is given twice"),
    "repeated in order": ([1, 1], "rows[1]=1 is not allowed: it is given twice"),
    "floats": (np.array([0.0, 1.0]), "rows must be (B,) integers, not (2,) of float64"),
    "bools": (np.array([True, False, True, True]), "rows must be (B,) integers, not (4,) of bool"),
    "two axes": ([[0, 1]], "rows must be (B,) integers, not (1, 2) of int64"),
    "a number": (0, "rows must be (B,) integers, not () of int64"),
    "objects": (np.array([None]), "rows must be (B,) integers, not (1,) of object"),
}

METHODS = {
    "step": lambda batch, rows: batch.step(rows, np.zeros(np.shape(rows), np.int64)),
    "observe": lambda batch, rows: batch.observe(rows),
    "views": lambda batch, rows: batch.views(rows),
    "native_cards": lambda batch, rows: batch.native_cards(rows, GREEDY),
}


@pytest.fixture
def batch():
    return GameBatch(streams(1, 4), episode="deal")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bad", BAD_ROWS)
def test_bad_rows_are_refused_and_nothing_changes(batch, method, bad):
    rows, message = BAD_ROWS[bad]
    before = batch.games.tobytes()
    with refused(message):
        METHODS[method](batch, rows)
    assert batch.games.tobytes() == before


@pytest.mark.parametrize(
    "rows", [[3, 0], np.array([3, 0], np.int32), np.array([3, 9, 0, 9])[::2], np.array([3, 0], "u1")]
)
def test_rows_of_any_integers_in_any_order(batch, rows):
    cards = batch.native_cards(rows, GREEDY)
    assert cards.tolist() == batch.native_cards(np.array([0, 3]), GREEDY)[::-1].tolist()
    assert (batch.observe(rows)[1] == batch.views(rows).action_mask).all()
    batch.step(rows, cards)
    assert batch.games["decisions"].tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("policy", [77, -1, 3, 1.0, True, "greedy", None])
def test_unknown_policies_are_refused(batch, policy):
    with refused("policy="):
        batch.native_cards(np.arange(4), policy)


def test_a_native_policy_has_no_card_for_a_game_that_is_over(batch):
    while len(batch.acting()) == 4:
        batch.step(np.arange(4), batch.native_cards(np.arange(4), GREEDY))
    over = np.setdiff1d(np.arange(4), batch.acting())[0]
    with refused(f"game {over} "):
        batch.native_cards(np.arange(4), GREEDY)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start_spread": -7}, "start_spread=-7 is not allowed"),
        ({"start_spread": 1.5}, "start_spread=1.5 is not allowed"),
        ({"episode": "match"}, "episode='match' is not allowed"),
        ({"skip_forced": "no"}, "skip_forced='no' is not allowed"),
        ({"first_id": 0.5}, "first_id=0.5 is not allowed"),
        ({"first_dealer": 2}, "first_dealer"),
        ({"scores": (0, 121)}, "scores"),
        ({"seeds": np.array([0.5])}, "seeds must be (n,) uint64, not (1,) of float64"),
        ({"seeds": np.array([True])}, "seeds must be (n,) uint64, not (1,) of bool"),
        ({"seeds": np.array([-1])}, "seeds must be (n,) uint64"),
        ({"seeds": np.array([[1]])}, "seeds must be (n,) uint64, not (1, 1) of int64"),
        ({"seeds": 7}, "seeds must be (n,) uint64"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with refused(message):
        GameBatch(**{"seeds": streams(1, 2)} | arguments)


ALL_AT_ONCE = """
import threading, numpy as np, crib_env
batch = crib_env.GameBatch(crib_env.streams(1, 2_000), episode="deal")
def play(seed):
    rng = np.random.default_rng(seed)
    while len(rows := batch.acting()):
        masks = batch.views(rows).action_mask
        try:
            batch.step(rows, np.where(masks, rng.random(masks.shape), -1).argmax(axis=1))
        except ValueError as error:  # another thread was quicker
            assert "is not legal" in str(error)
threads = [threading.Thread(target=play, args=[seed]) for seed in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert (batch.games["decisions"] >= 4).all() and (batch.games["n_laid"] == 8).all()
print("over")
"""


def test_threads_that_play_the_same_games_end_no_process():
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", ALL_AT_ONCE], capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout) == (0, "over\n"), done.stderr


def test_copies_and_pickles_have_the_same_future():
    batch = GameBatch(streams(5, 3), episode="deal")
    rows = np.arange(3)
    batch.step(rows, batch.native_cards(rows, RANDOM))
    twins = [copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    before = batch.games.copy()
    for twin in twins:
        assert (twin.games == before).all()
        twin.step(rows, twin.native_cards(rows, RANDOM))
    assert (batch.games == before).all()
    assert (twins[0].games == twins[1].games).all()
    assert (twins[0].games["decisions"] == 2).all()
