"""Work on a Ray cluster of two workers comes out as without it, to the last digit, also when a worker is killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.agents.networks.weights_file import load_tensors
from crib_env.evaluate.commands.match import MatchArguments, match
from crib_env.evaluate.executors.named import connected
from crib_env.evaluate.executors.on_ray import load
from crib_env.evaluate.matches import blocks, league
from crib_env.evaluate.matches.league import League
from crib_env.evaluate.matches.match import play_games
from crib_env.evaluate.matches.mirrored import Games
from crib_env.evaluate.matches.stopping import Narrow
from crib_env.train import ddqn
from crib_env.train.loop.sweep import Sweep
from tests.helpers.killed_once import GAMES, KilledOnce, Settings
from tests.helpers.learner_runs import ROOT, command
from tests.helpers.refusals import refused
from tests.helpers.small_settings import DDQN as SMALL

LEARNER = "tests.helpers.killed_once:DDQNKilledOnce"


@pytest.fixture(scope="module")
def address():
    """Of a cluster of two workers, of one core each, that asks for no token."""
    pytest.importorskip("ray")
    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")  # also where this user has a token
        load("auto")
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args=node)
        try:
            cluster.add_node(**node)
            yield cluster.address
        finally:
            cluster.shutdown()


@pytest.fixture
def cluster(address, monkeypatch):
    monkeypatch.setattr(blocks, "_MOST", GAMES // 12)
    monkeypatch.chdir(ROOT)  # from where workers import this module
    with connected(f"ray:{address}") as cluster:
        yield cluster


def assert_equal(one: Games, two: Games):
    for field in ("scores", "tally", "deals", "decisions"):
        assert np.array_equal(getattr(one, field), getattr(two, field)), field
    assert one.records == two.records


@pytest.mark.slow
@pytest.mark.parametrize("names", [("greedy", "random"), ("halscrib:adaptive=yes", "ismcts:iterations=5")])
def test_a_match_equals_the_match_without_ray_though_a_worker_is_killed(cluster, names, tmp_path):
    a, b = map(make_agent, names)
    alone = Games.merged(list(play_games(a, b, GAMES, 3, keep_records=True)))
    told = []
    killed = KilledOnce(names[0], tmp_path / "killed")
    parts = list(play_games(killed, b, GAMES, 3, cluster=cluster, keep_records=True, on_progress=told.append))
    assert killed.marker.exists()
    assert len(parts) > 6
    assert sum(told) == GAMES
    assert_equal(Games.merged(parts), alone)


@pytest.mark.slow
def test_a_match_stops_where_it_stops_without_ray(cluster):
    a, b = make_agent("greedy"), make_agent("random")
    alone, there = (list(play_games(a, b, 10_000, 1, until=Narrow(0.012), cluster=where)) for where in (None, cluster))
    assert_equal(Games.merged(there), Games.merged(alone))
    assert 1_000 <= len(Games.merged(there).scores) < 10_000


@pytest.mark.slow
def test_a_network_plays_as_without_ray(cluster):
    network = ddqn.DDQNAgent.new("split", "209", "ranks", (64, 64))
    alone, there = (
        Games.merged(list(play_games(network, make_agent("greedy"), GAMES, 3, cluster=where)))
        for where in (None, cluster)
    )
    assert_equal(there, alone)


@pytest.mark.slow
def test_an_agent_that_cheats_is_named(cluster):
    with refused("agent 'cheat'"):
        list(play_games(Cheat(), make_agent("greedy"), 20, cluster=cluster))


class Cheat:
    name = "cheat"

    def act(self, views):
        return views.action_mask.argmin(axis=1)


@pytest.mark.slow
def test_a_league_equals_the_league_without_ray_though_a_worker_is_killed(cluster, monkeypatch, tmp_path):
    plan = League(("greedy", "random", "careful"), GAMES, 2)
    alone = plan.play(plan.begin(tmp_path / "alone"))
    marker = tmp_path / "killed"
    monkeypatch.setattr(league, "make_agent", lambda name: KilledOnce(name, marker))
    folder, told = plan.begin(tmp_path / "there"), []
    there = plan.play(folder, 1, lambda done, what: told.append(done), cluster)
    assert marker.exists()
    assert sum(told) == 3 * GAMES
    assert sorted(path.name for path in (folder / "matches").iterdir()) == ["1-2.json", "1-3.json", "2-3.json"]
    for one, two in zip(alone, there):
        assert np.array_equal(one.won, two.won)
        untimed = [replace(match.result, seconds=0, microseconds_per_decision={}) for match in (one, two)]
        assert untimed[0] == untimed[1]
    assert [match.won.tolist() for match in plan.play(folder)] == [match.won.tolist() for match in alone]


@pytest.mark.slow
def test_a_sweep_equals_the_sweep_without_ray_though_a_worker_is_killed(address, monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(ROOT)
    tiny = replace(SMALL, episodes=256, seed=3)
    killed = Settings(**vars(tiny), marker=str(tmp_path / "killed"))
    for name, settings, where in (("alone", replace(killed, marker=str(tmp_path)), None), ("there", killed, address)):
        (tmp_path / name).mkdir()
        Sweep(LEARNER, settings, 2, tmp_path / name).run(where and f"ray:{where}")
    assert (tmp_path / "killed").exists()
    lines = capfd.readouterr()
    for seed in (3, 4):
        assert f"seed {seed}: {LEARNER}" in lines.out + lines.err
        alone, there = (load_tensors(tmp_path / name / f"seed-{seed}" / "final")[0] for name in ("alone", "there"))
        for key, value in alone.items():
            assert np.array_equal(value.numpy(), there[key].numpy()), key
    summaries = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("alone", "there")]
    assert summaries[0] == summaries[1]


@pytest.mark.parametrize("wrong", ["nonsense", "127.0.0.1:1"])
def test_an_address_without_a_cluster_is_named(wrong):
    pytest.importorskip("ray")
    with refused(f"executor='ray:{wrong}'"), connected(f"ray:{wrong}"):
        pass


# --- clusters that ask for a token ----------------------------------------------------------------------------------


@pytest.fixture(params=["token", pytest.param("disabled", marks=pytest.mark.slow)])
def started(request, tmp_path):
    """Address of a cluster that ``ray start`` has begun, how it checks tokens, and a home folder with its token."""
    pytest.importorskip("ray")
    ray, home = Path(sys.executable).with_name("ray"), tmp_path / "home"
    home.mkdir()
    options = {"env": environment(home, RAY_AUTH_MODE=request.param), "stdout": subprocess.PIPE, "text": True}
    subprocess.run([ray, "get-auth-token", "--generate"], check=True, stderr=subprocess.DEVNULL, **options)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = "127.0.0.1:{1}".format(*free.getsockname())
    start = [ray, "start", "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={address.partition(':')[2]}"]
    start += ["--num-cpus=2", "--object-store-memory=104857600", "--include-dashboard=false", "--disable-usage-stats"]
    with (
        tempfile.TemporaryDirectory() as short,  # a socket's path has at most 107 characters
        subprocess.Popen([*start, f"--temp-dir={short}"], stderr=subprocess.STDOUT, **options) as process,
    ):
        try:
            assert any("Ray runtime started" in line for line in process.stdout)
            yield address, request.param, home
        finally:
            process.terminate()
            process.communicate()


def environment(home, **more):
    """Of a process whose user has this home folder, and has not set anything about tokens."""
    return {name: value for name, value in os.environ.items() if "RAY_AUTH" not in name} | {"HOME": str(home), **more}


def match_there(address, home, *options, **more):
    """A match of three shards on that cluster, by the command."""
    line, plain = command(
        "evaluate", "match", "greedy", "random", "--games", "2400", "--executor", f"ray:{address}", *options, cwd=ROOT
    )
    used = {name: value for name, value in plain["env"].items() if "RAY_AUTH" not in name} | environment(home, **more)
    return subprocess.run(line, capture_output=True, **plain | {"env": used})


def written(folder):
    result = json.loads((folder / "result.json").read_text())
    return {**result, "seconds": 0, "microseconds_per_decision": 0}, (folder / "games.jsonl").read_text()


def test_a_match_is_the_match_without_ray_and_a_token_is_shown_or_the_error_says_what_to_set(
    started, tmp_path, monkeypatch
):
    address, mode, home = started
    there = match_there(address, home, "--json", home / "result.json", "--record", home / "games.jsonl")
    assert there.returncode == 0, there.stderr
    assert "InvalidAuthToken" not in there.stderr
    monkeypatch.chdir(ROOT)
    match(
        MatchArguments("greedy", "random", 2_400, json_file=tmp_path / "result.json", record=tmp_path / "games.jsonl")
    )
    assert written(home) == written(tmp_path)
    token = (home / ".ray" / "auth_token").read_text()
    as_told = match_there(address, tmp_path, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=token)
    assert as_told.returncode == 0, as_told.stderr
    for wrong in ({}, {"RAY_AUTH_TOKEN": "0" * 64}) if mode == "token" else ():
        refused = match_there(address, tmp_path, **wrong)
        assert refused.returncode == 2
        *warnings, error = refused.stderr.splitlines()
        assert error.startswith(
            f"error: executor='ray:{address}' is not allowed: the cluster asks for its token: set RAY_AUTH"
        )
        assert len(warnings) <= 1  # Ray's own


LOCAL = """
import sys
from crib_env.evaluate.files import markdown_table
from crib_env.evaluate.executors.named import connected
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


def wait_for_ever(folder: Path):
    (folder / "begun").touch()
    try:
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt:
        time.sleep(0.5)
        (folder / "saved").touch()
        raise


@pytest.mark.slow
def test_stopped_tasks_have_time_to_save_their_state(address, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    with pytest.raises(KeyboardInterrupt):
        wait_and_press_ctrl_c(address, tmp_path)
    assert (tmp_path / "saved").exists()


def wait_and_press_ctrl_c(address, folder):
    def press():
        while not (folder / "begun").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    with connected(f"ray:{address}") as cluster:
        threading.Thread(target=press, daemon=True).start()
        list(cluster.each(wait_for_ever, [(folder,)]))
