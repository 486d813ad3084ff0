"""The native vector environment: its arrays and copies are independent of each other, in threads and in forks too."""

import copy
import multiprocessing
import pickle
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from crib_env.vector.environments import CribbageVectorEnv
from tests.helpers.vector_games import (
    MODES,
    FirstCard,
    assert_equal_observations,
    assert_equal_steps,
    one_game_a_chunk,
    some_cards,
)


@pytest.mark.parametrize("mode", MODES)
def test_fresh_arrays_by_default_and_the_same_with_copy_false(mode):
    fresh = CribbageVectorEnv(3, autoreset_mode=mode, episode="play")
    reused = CribbageVectorEnv(3, autoreset_mode=mode, episode="play", copy=False)
    rng = np.random.default_rng(0)
    one, two = fresh.reset(seed=4)[0], reused.reset(seed=4)[0]
    kept, finals = [], []
    for _ in range(3):
        kept.append((one, copy.deepcopy(one)))
        before = two
        cards = some_cards(one["action_mask"], rng)
        one, two = fresh.step(cards), reused.step(cards)
        assert_equal_steps(one, two)
        one, two = one[0], two[0]
        assert np.shares_memory(two["observation"], before["observation"])
    while mode == AutoresetMode.SAME_STEP and len(finals) < 2:
        *_, infos = reused.step(some_cards(two["action_mask"], rng))
        if "final_obs" in infos:
            finals.append((infos["final_obs"], copy.deepcopy(infos["final_obs"])))
    for then, now in kept:
        assert_equal_observations(then, now)
    for then, now in finals:
        for a, b in zip(then, now):
            assert (a is None and b is None) or (a["observation"] == b["observation"]).all()


def test_a_step_into_the_own_buffers_allocates_nothing_that_grows_with_the_games():
    peaks = []
    for n in (64, 4096):
        envs = CribbageVectorEnv(n, copy=False)
        _, infos = envs.reset(seed=0)
        for _ in range(3):  # no game ends so soon
            cards = infos["action_mask"].argmax(axis=1)
            tracemalloc.start()
            infos = envs.step(cards)[4]
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        peaks.append(peak)
    few = 2048 if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else 4 * 4096  # the oldest libraries: 3 bytes a game
    assert peaks[1] - peaks[0] < few


@pytest.mark.parametrize("opponent", ["random", FirstCard()])
def test_threads_change_nothing(opponent, monkeypatch):
    one_game_a_chunk(monkeypatch)
    results = []
    for threads in (1, 2, 5):
        envs = CribbageVectorEnv(7, opponent=opponent, threads=threads)
        _, infos = envs.reset(seed=6)
        for _ in range(80):
            infos = envs.step(infos["action_mask"].argmax(axis=1))[4]
        results.append([array.tobytes() for array in envs._table])
        envs.close()
    assert results[0] == results[1] == results[2]


def test_a_second_thread_in_the_middle_of_a_step_is_refused_and_harms_nothing():
    class Slow(FirstCard):
        def act(self, views):
            is_inside.set()
            assert may_go_on.wait(60)
            return super().act(views)

    is_inside, may_go_on = threading.Event(), threading.Event()
    may_go_on.set()
    envs = CribbageVectorEnv(2, opponent=Slow(), seat=0)
    _, infos = envs.reset(seed=0, options={"first_dealer": 0})
    is_inside.clear()
    may_go_on.clear()
    cards = infos["action_mask"].argmax(axis=1)
    with ThreadPoolExecutor(1) as pool:
        # Two discards, after which the opponent leads.
        first = pool.submit(lambda: [envs.step(envs.action_masks().argmax(axis=1)) for _ in range(2)])
        assert is_inside.wait(60)
        before = envs.games.tobytes()
        for call in (lambda: envs.step(cards), envs.reset):
            with pytest.raises(RuntimeError, match="another step or reset of this vector environment is under way"):
                call()
        assert envs.games.tobytes() == before
        may_go_on.set()
        first.result()
    envs.step(envs.action_masks().argmax(axis=1))


def test_copies_and_pickles_have_the_same_future(monkeypatch):
    one_game_a_chunk(monkeypatch)
    envs = CribbageVectorEnv(3, threads=2)
    _, infos = envs.reset(seed=5)
    infos = envs.step(infos["action_mask"].argmax(axis=1))[4]
    for twin in (copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))):
        original = copy.deepcopy(envs)
        for _ in range(60):
            cards = original.action_masks().argmax(axis=1)
            assert_equal_steps(original.step(cards), twin.step(cards))
        original.close()
        twin.close()


def step_in_a_fork(envs, pipe):
    envs.step(envs.action_masks().argmax(axis=1))
    pipe.send(envs.games["scores"].tobytes())


def test_a_process_that_has_used_threads_can_fork(monkeypatch):
    one_game_a_chunk(monkeypatch)
    envs = CribbageVectorEnv(4, threads=2)
    envs.reset(seed=0)
    assert envs._pool is not None
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=step_in_a_fork, args=(envs, there))
    child.start()
    assert here.poll(60)
    envs.step(envs.action_masks().argmax(axis=1))
    assert here.recv() == envs.games["scores"].tobytes()
    child.join()
    envs.close()
