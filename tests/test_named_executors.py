"""What ``--executor`` says of names that it does not know, of packages that are not installed, and of clusters."""

import os
import sys
from types import SimpleNamespace

import pytest

from crib_env.evaluate.commands.league import league
from crib_env.evaluate.commands.match import MatchArguments, match
from crib_env.evaluate.executors.named import check_executor, connected
from crib_env.evaluate.executors.on_ray import load
from crib_env.train.__main__ import main
from tests.helpers.refusals import refused


def test_an_unknown_executor_is_named():
    with refused("executor='slurm'", "ray, dask, submitit"):
        check_executor("slurm")


@pytest.mark.parametrize(("name", "package"), [("dask", "distributed"), ("submitit", "submitit")])
def test_the_extra_of_an_executor_is_named(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with refused(f"executor='{name}'", f"extra '{name}'"):
        check_executor(name)


def test_without_ray_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    for command in (
        lambda: match(MatchArguments("greedy", "random", 20, executor="ray")),
        lambda: league(("greedy", "random"), folder=tmp_path / "league", executor="ray"),
    ):
        with refused("executor='ray'", "extra 'ray'"):
            command()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--seeds", "2", "--executor", "ray"], "needs ray: install crib_env with its extra 'ray'"),
        (["--executor=ray"], "executor='ray' is not allowed without --seeds"),
    ],
)
def test_a_bad_sweep_on_ray_begins_no_folder(arguments, error, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(sys, "argv", ["train", "ddqn", *arguments])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert error in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("variables", "mode"),
    [
        ({}, None),
        ({"RAY_AUTH_TOKEN": "secret"}, "token"),
        ({"RAY_AUTH_TOKEN": "secret", "RAY_AUTH_MODE": "disabled"}, "disabled"),
        ({"RAY_AUTH_TOKEN_PATH": "there"}, "token"),
        ({"RAY_AUTH_TOKEN_PATH": "nowhere"}, None),
        ({"HOME": "home"}, "token"),
    ],
)
def test_a_token_that_is_here_is_shown(variables, mode, monkeypatch, tmp_path):
    (tmp_path / "home" / ".ray").mkdir(parents=True)
    for file in (tmp_path / "there", tmp_path / "home" / ".ray" / "auth_token"):
        file.write_text("secret")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace())
    monkeypatch.setattr(os, "environ", {"HOME": "elsewhere", **variables})
    load("127.0.0.1:6379")
    assert os.environ.get("RAY_AUTH_MODE") == mode


def test_a_cluster_that_asks_for_a_token_says_what_to_set(monkeypatch):
    def init(*_, **__):
        try:
            raise RuntimeError("Failed to connect to GCS. Unauthenticated: RPC error: InvalidAuthToken: missing")
        except RuntimeError as error:
            raise ConnectionError("Failed to connect to Ray cluster") from error

    errors = SimpleNamespace(AuthenticationError=PermissionError)
    ray = SimpleNamespace(__spec__="found", init=init, shutdown=lambda: None, exceptions=errors)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(os, "environ", {"HOME": "elsewhere"})
    says = "set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to what `ray get-auth-token` prints on its head node"
    message = f"executor='ray:auto' is not allowed: the cluster asks for its token: {says}"
    with refused(message), connected("ray:auto"):
        pass


@pytest.mark.parametrize(
    ("address", "listens_at", "warns"),
    [("local", "127.0.0.1", False), ("local", "192.0.2.2", True), ("auto", "192.0.2.2", False)],
)
def test_a_local_cluster_that_others_can_reach_warns(address, listens_at, warns, monkeypatch, capsys):
    ray = SimpleNamespace(
        __spec__="found",
        init=lambda *args, **settings: None,
        shutdown=lambda: None,
        util=SimpleNamespace(get_node_ip_address=lambda: listens_at),
        nodes=lambda: [{"Alive": True, "Resources": {"CPU": 2}}],
        cluster_resources=lambda: {"CPU": 2},
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", raising=False)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    with connected(f"ray:{address}"):
        asked = os.environ.pop("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", None)
    assert asked == ("0" if address == "local" else None)
    warned = capsys.readouterr().err
    assert warned.startswith("warning: Ray listens at 192.0.2.2, not at 127.0.0.1 alone") if warns else warned == ""
