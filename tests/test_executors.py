"""Work on any executor comes out as on one machine, to the last digit, also when a worker is killed."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.agents.networks.weights_file import load_tensors
from crib_env.evaluate.commands.league import league
from crib_env.evaluate.commands.match import MatchArguments, match
from crib_env.evaluate.commands.suite import suite
from crib_env.evaluate.executors import check_executor, connected
from crib_env.evaluate.matches import league as league_module
from crib_env.evaluate.matches import mirrored
from crib_env.evaluate.matches.league import League
from crib_env.evaluate.matches.match import play_games
from crib_env.evaluate.matches.mirrored import Games
from crib_env.evaluate.statistics import Narrow
from crib_env.train import ddqn
from crib_env.train.__main__ import main
from crib_env.train.loop.sweep import sweep
from tests.helpers.command_here import run_here
from tests.helpers.killed_once import GAMES, KilledOnce, Settings
from tests.helpers.learner_runs import ROOT
from tests.helpers.refusals import refused
from tests.helpers.small_settings import DDQN as SMALL
from tests.helpers.vector_games import Cheat

LEARNER = "tests.helpers.killed_once:DDQNKilledOnce"
EXECUTORS = ["processes", pytest.param("dask", marks=pytest.mark.slow), pytest.param("ray", marks=pytest.mark.slow)]


def with_two_workers(name, patch):
    """Skips without its package; connected here, it has two workers."""
    pytest.importorskip({"processes": "joblib", "dask": "distributed"}.get(name, name))
    patch.setattr(os, "cpu_count", lambda: 2)
    patch.setenv("RAY_AUTH_MODE", "disabled")  # also where this user has a token
    patch.setenv("PYTHONPATH", str(ROOT))  # workers import this module


@pytest.fixture(scope="module", params=EXECUTORS)
def local(request, tmp_path_factory):
    """The name of an executor, and two workers of it on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        with_two_workers(request.param, patch)
        with connected(request.param) as cluster:
            yield request.param, cluster


@pytest.fixture
def cluster(local, monkeypatch):
    monkeypatch.setattr(mirrored, "_MOST", GAMES // 12)
    return local[1]


def assert_equal(one: Games, two: Games):
    for field in ("scores", "deals", "decisions"):
        assert np.array_equal(getattr(one, field), getattr(two, field)), field
    assert one.records == two.records


@pytest.fixture(params=EXECUTORS)
def executor(request, monkeypatch):
    """The name of one with two workers, which a command connects to itself."""
    with_two_workers(request.param, monkeypatch)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return request.param


# Before the tests with a cluster, which stays open: Ray connects a process only once.
@pytest.mark.slow
def test_a_sweep_equals_the_sweep_without_it_though_a_worker_is_killed(executor, tmp_path, capfd):
    tiny = replace(SMALL, episodes=256, seed=3)
    killed = Settings(**vars(tiny), marker=str(tmp_path / "killed"))
    for name, settings, where in (("alone", replace(killed, marker=str(tmp_path)), None), ("there", killed, executor)):
        (tmp_path / name).mkdir()
        sweep(LEARNER, settings, 2, tmp_path / name, where)
    assert (tmp_path / "killed").exists()
    lines = capfd.readouterr()
    for seed in (3, 4):
        # The lines of processes of joblib do not pass where pytest looks.
        assert executor == "processes" or f"seed {seed}: {LEARNER[:12]}" in lines.out + lines.err
        alone, there = (load_tensors(tmp_path / name / f"seed-{seed}" / "final")[0] for name in ("alone", "there"))
        for key, value in alone.items():
            assert np.array_equal(value.numpy(), there[key].numpy()), key
        paths = (tmp_path / name / f"seed-{seed}" / "summary.json" for name in ("alone", "there"))
        one, two = (json.loads(path.read_text())["scalars"] for path in paths)
        assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("names", [("greedy", "random"), ("halscrib", "ismcts:iterations=5")])
def test_a_match_equals_the_match_without_it_though_a_worker_is_killed(cluster, names, tmp_path):
    a, b = map(make_agent, names)
    alone = Games.merged(list(play_games(a, b, GAMES, 3, keep_records=True)))
    told, killed = [], KilledOnce(names[0], tmp_path / "killed")
    parts = list(play_games(killed, b, GAMES, 3, cluster=cluster, keep_records=True, on_progress=told.append))
    assert killed.marker.exists()
    assert len(parts) > 6
    assert sum(told) == GAMES
    assert_equal(Games.merged(parts), alone)


def test_a_match_stops_where_it_stops_without_it(cluster):
    a, b = make_agent("greedy"), make_agent("random")
    alone, there = (list(play_games(a, b, 10_000, 1, until=Narrow(0.012), cluster=where)) for where in (None, cluster))
    assert_equal(Games.merged(there), Games.merged(alone))
    assert 1_000 <= len(Games.merged(there).scores) < 10_000


@pytest.mark.slow
def test_a_network_plays_as_without_it(cluster):
    network = ddqn.DDQNAgent.new("split", "209", "ranks", (64, 64))
    alone, there = (
        Games.merged(list(play_games(network, make_agent("greedy"), GAMES, 3, cluster=where)))
        for where in (None, cluster)
    )
    assert_equal(there, alone)


@pytest.mark.slow
def test_an_agent_that_cheats_is_named_and_the_next_match_is_played(cluster):
    with refused("agent 'cheat'"):
        list(play_games(Cheat(), make_agent("greedy"), 200, cluster=cluster))
    a, b = make_agent("greedy"), make_agent("random")
    alone, there = (Games.merged(list(play_games(a, b, 40, 3, cluster=where))) for where in (None, cluster))
    assert_equal(there, alone)


@pytest.mark.slow
def test_a_league_equals_the_league_without_it_though_a_worker_is_killed(cluster, monkeypatch, tmp_path):
    plan = League(("greedy", "random", "careful"), GAMES, 2)
    alone = plan.play(plan.begin(tmp_path / "alone"))
    monkeypatch.setattr(league_module, "make_agent", partial(KilledOnce, marker=tmp_path / "killed"))
    folder, told = plan.begin(tmp_path / "there"), []
    there = plan.play(folder, 1, lambda done, what: told.append(done), cluster)
    assert (tmp_path / "killed").exists()
    assert sum(told) == 3 * GAMES
    assert sorted(path.name for path in (folder / "matches").iterdir()) == ["1-2.json", "1-3.json", "2-3.json"]
    for one, two in zip(alone, there):
        assert one.by_deal == two.by_deal
        untimed = [replace(match.result, seconds=0, microseconds_per_decision={}) for match in (one, two)]
        assert untimed[0] == untimed[1]


@pytest.mark.slow
def test_a_suite_equals_the_suite_without_an_executor(tmp_path):
    pytest.importorskip("joblib")

    def of(name, **where):
        suite(("greedy", "random"), 0.01, only=("discards", "endgames"), folder=tmp_path / name, **where)
        return {path.name: json.loads(path.read_text()) for path in (tmp_path / name / "tasks").iterdir()}

    assert of("there", executor="processes") == of("alone")


def test_an_unknown_executor_is_named():
    with refused("executor='slurm'", "processes, ray, dask"):
        check_executor("slurm")


@pytest.mark.parametrize(("name", "package"), [("dask", "distributed"), ("processes", "joblib"), ("ray", "joblib")])
def test_the_extra_of_an_executor_is_named(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with refused(f"executor='{name}'", "extra 'cluster'"):
        check_executor(name)


def test_without_its_package_no_command_begins_a_folder(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    for command in (
        lambda: match(MatchArguments("greedy", "random", 20, executor="ray")),
        lambda: league(("greedy", "random"), folder=tmp_path / "league", executor="ray"),
    ):
        with refused("executor='ray'", "extra 'cluster'"):
            command()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--seeds", "2", "--executor", "ray"], "needs ray: install crib_env with its extra 'cluster'"),
        (["--executor=ray"], "executor='ray' is only for --seeds"),
    ],
)
def test_a_bad_sweep_begins_no_folder(arguments, error, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.chdir(tmp_path)
    done = run_here(main, "ddqn", *arguments)
    assert done.status == 2
    assert error in done.errors
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", ["ray:nonsense", "ray:127.0.0.1:1", "dask:nonsense"])
def test_an_address_without_a_cluster_is_named(wrong):
    pytest.importorskip({"dask": "distributed"}.get(wrong.partition(":")[0], "ray"))
    with refused(f"executor='{wrong}'"), connected(wrong):
        pass


LOCAL = """
import sys
from crib_env.evaluate.files import markdown_table
from crib_env.evaluate.executors import connected
with connected("ray") as cluster:
    next(cluster.each(markdown_table, [([], [])]))
    print("connected", flush=True)
    sys.stdin.read()
"""


def listening(pids):
    """The addresses, in hexadecimal, at which processes listen."""
    sockets = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                sockets.add(os.readlink(link))
    lines = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()]
    return {line[1].partition(":")[0] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets}


def descendants(pid):
    """Process numbers: this one, and all that it has started."""
    parents = {int(path.name): path / "stat" for path in Path("/proc").iterdir() if path.name.isdigit()}
    parent_of = {}
    for number, stat in parents.items():
        with suppress(OSError):
            parent_of[number] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {number for number, parent in parent_of.items() if parent in found} - found:
        found |= more
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_local_cluster_listens_on_this_machine_alone():
    pytest.importorskip("ray")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", LOCAL], cwd=ROOT, **pipes) as process:
        assert process.stdout.readline() == "connected\n"
        found = listening(descendants(process.pid))
        _, errors = process.communicate()
    assert found
    assert found <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert "warning" not in errors
