"""Work on any executor comes out as on one machine, to the last digit, also when a worker is killed."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.evaluate.commands.suite import suite
from crib_env.evaluate.executors.cluster import Cluster
from crib_env.evaluate.executors.named import connected
from crib_env.evaluate.matches import blocks
from crib_env.evaluate.matches.league import League
from crib_env.evaluate.matches.match import play_games
from crib_env.evaluate.matches.mirrored import Games
from crib_env.train.loop.sweep import Sweep
from tests.helpers.killed_once import GAMES, KilledOnce, Settings
from tests.helpers.learner_runs import ROOT
from tests.helpers.refusals import refused
from tests.helpers.small_settings import DDQN as SMALL


def two_threads():
    return ThreadPoolExecutor(2)


@contextmanager
def dask_in_this_process():
    distributed = pytest.importorskip("distributed")
    from crib_env.evaluate.executors.on_dask import DaskExecutor

    settings = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.Client(**settings) as client, DaskExecutor(client) as executor:
        yield executor


def submitit_in_this_process():
    pytest.importorskip("submitit")
    from crib_env.evaluate.executors.on_submitit import SubmititExecutor

    return SubmititExecutor("debug", 1, 1)


HERE = [two_threads, dask_in_this_process, submitit_in_this_process]


def assert_equal(one: Games, two: Games):
    for field in ("scores", "tally", "deals", "decisions"):
        assert np.array_equal(getattr(one, field), getattr(two, field)), field
    assert one.records == two.records


@pytest.fixture
def small_blocks(monkeypatch, tmp_path):
    monkeypatch.setattr(blocks, "_MOST", GAMES // 12)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("executor", HERE)
def test_a_match_equals_the_match_without_an_executor(executor):
    a, b, told = make_agent("greedy"), make_agent("random"), []
    alone = Games.merged(list(play_games(a, b, GAMES, 3, keep_records=True)))
    with executor() as pool:
        parts = list(play_games(a, b, GAMES, 3, cluster=Cluster(pool, 2), keep_records=True, on_progress=told.append))
    assert len(parts) > 6
    assert sum(told) == GAMES
    assert_equal(Games.merged(parts), alone)


class Cheat:
    name = "cheat"

    def act(self, views):
        return views.action_mask.argmin(axis=1)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("executor", HERE)
def test_an_agent_that_cheats_is_named(executor):
    with executor() as pool, refused("agent 'cheat'"):
        list(play_games(Cheat(), make_agent("greedy"), 20, cluster=Cluster(pool, 2)))


@pytest.mark.usefixtures("small_blocks")
def test_a_suite_equals_the_suite_without_an_executor(tmp_path, monkeypatch):
    def of(name, **where):
        suite(("greedy", "random"), ("0.01",), only=("discards", "endgames"), folder=tmp_path / name, **where)
        return {path.name: json.loads(path.read_text()) for path in (tmp_path / name / "tasks").iterdir()}

    with two_threads() as pool:
        monkeypatch.setattr("crib_env.evaluate.commands.suite.connected", lambda name: nullcontext(Cluster(pool, 2)))
        assert of("there", executor="submitit") == of("alone")


# --- Clusters of two workers on this machine, of which one is killed in the middle -----------------------------------


@pytest.fixture(scope="module", params=["dask", "submitit"])
def local(request, tmp_path_factory):
    pytest.importorskip({"dask": "distributed"}.get(request.param, request.param))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("here"))
        patch.setenv("PYTHONPATH", str(ROOT))  # workers import the module of KilledOnce
        with connected(request.param) as cluster:
            yield request.param, cluster


@pytest.mark.slow
def test_a_match_equals_the_match_without_it_though_a_worker_is_killed(local, monkeypatch, tmp_path):
    monkeypatch.setattr(blocks, "_MOST", GAMES // 12)
    a, b = make_agent("greedy"), make_agent("random")
    alone = Games.merged(list(play_games(a, b, GAMES, 3, keep_records=True)))
    killed = KilledOnce("greedy", tmp_path / "killed")
    there = Games.merged(list(play_games(killed, b, GAMES, 3, cluster=local[1], keep_records=True)))
    assert killed.marker.exists()
    assert_equal(there, alone)


@pytest.mark.slow
def test_a_league_equals_the_league_without_it_though_a_worker_is_killed(local, monkeypatch, tmp_path):
    from crib_env.evaluate.matches import league

    plan = League(("greedy", "random", "careful"), GAMES, 2)
    alone = plan.play(plan.begin(tmp_path / "alone"))
    monkeypatch.setattr(league, "make_agent", partial(KilledOnce, marker=tmp_path / "killed"))
    there = plan.play(plan.begin(tmp_path / "there"), 1, cluster=local[1])
    assert (tmp_path / "killed").exists()
    for one, two in zip(alone, there):
        assert np.array_equal(one.won, two.won)


@pytest.mark.slow
def test_a_sweep_equals_the_sweep_without_it_though_a_worker_is_killed(local, monkeypatch, tmp_path):
    tiny = replace(SMALL, episodes=256, seed=3)
    killed = Settings(**vars(tiny), marker=str(tmp_path / "killed"))
    for name, settings, where in (("alone", replace(killed, marker=str(tmp_path)), None), ("there", killed, local[0])):
        (tmp_path / name).mkdir()
        Sweep("tests.helpers.killed_once:DDQNKilledOnce", settings, 2, tmp_path / name).run(where)
    assert (tmp_path / "killed").exists()
    summaries = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("alone", "there")]
    assert summaries[0] == summaries[1]


def note_and_wait(folder):
    (folder / str(os.getpid())).touch()
    time.sleep(600)


@pytest.mark.slow
def test_an_interrupted_job_of_submitit_ends_and_is_not_begun_again(tmp_path, monkeypatch):
    pytest.importorskip("submitit")
    from submitit.core.utils import FailedJobError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    begun = tmp_path / "begun"
    begun.mkdir()
    with connected("submitit") as cluster:
        job = cluster.executor.submit(note_and_wait, begun)
        while not (pids := list(begun.iterdir())):
            time.sleep(0.05)
    with pytest.raises((FailedJobError, OSError)):
        job.result(timeout=60)
    assert list(begun.iterdir()) == pids
    with pytest.raises(ProcessLookupError):
        os.kill(int(pids[0].name), 0)
