"""``GameBatch`` in threads and in copies."""

import copy
import pickle
import subprocess
import sys

import numpy as np

from crib_env import GameBatch, streams
from crib_env.players.policies import RANDOM

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
