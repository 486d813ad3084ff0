"""The native vector environment in threads, in copies and in forked processes."""

import copy
import multiprocessing
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from crib_env.vector.environments import CribbageVectorEnv
from tests.helpers.vector_games import FirstCard, assert_equal_steps, one_game_a_chunk


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
        before = envs._games.tobytes()
        for call in (lambda: envs.step(cards), envs.reset):
            with pytest.raises(RuntimeError, match="another step or reset of this vector environment is under way"):
                call()
        assert envs._games.tobytes() == before
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
    pipe.send(envs._games["scores"].tobytes())


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
    assert here.recv() == envs._games["scores"].tobytes()
    child.join()
    envs.close()
