"""Both precisions, whatever the processor: which one a run takes, says and keeps, and training in each."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from unittest.mock import Mock

import pytest
import torch
from rich.progress import Progress

from crib_env.agents.networks.weights_file import SUFFIX, load_tensors
from crib_env.train import __main__ as train_command
from crib_env.train import ddqn
from crib_env.train.loop import settings as number_format
from crib_env.train.loop.gradients import precision
from crib_env.train.loop.run import _is_expected, run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.settings import chosen, processor, with_precision
from crib_env.train.registry import LEARNERS
from crib_env.train.td import TD as TDLearner
from tests.helpers.killed_runs import KINDS
from tests.helpers.learner_runs import command, new_run
from tests.helpers.small_settings import DDQN, STRATEGY_WEIGHTS
from tests.helpers.solved_play import learn_from_a_small_game

FORMATS = ("float32", "bfloat16")
WITHOUT_NETWORKS = ("mmd-tables", "strategy-weights")
NETWORKS = [name for name in KINDS if name in LEARNERS and name not in WITHOUT_NETWORKS]


@pytest.fixture(params=FORMATS)
def fastest(request, monkeypatch):
    """The precision that ``"auto"`` means, on a processor with instructions for bfloat16 or without."""
    take(request.param, monkeypatch)
    return request.param


def take(name, monkeypatch):
    """Makes this a processor on which ``"auto"`` means this precision."""
    found = ("AVX2", "AVX-512", "bfloat16") if name == "bfloat16" else ("AVX2",)
    monkeypatch.setattr(number_format, "_instructions", lambda: found)
    monkeypatch.setattr(number_format.llvm, "get_host_cpu_name", lambda: f"made-for-{name}")


def test_auto_is_what_the_processor_has_instructions_for(fastest):
    assert chosen("auto") == fastest
    assert [chosen(name) for name in FORMATS] == list(FORMATS)
    assert with_precision(replace(DDQN, precision="auto")) == replace(DDQN, precision=fastest)
    assert with_precision(DDQN) == DDQN
    assert with_precision(STRATEGY_WEIGHTS) == STRATEGY_WEIGHTS  # without networks
    with precision("auto"):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == getattr(torch, fastest)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_learner_trains_in_either_precision(name, tmp_path, monkeypatch):
    learn_from_a_small_game(monkeypatch)
    kind, found = KINDS[name], []
    for one in FORMATS:
        settings = replace(kind.settings, episodes=2 * kind.at_once, precision=one, evaluations=0)
        agent, _ = new_run(kind.learner, settings, tmp_path / one)
        agent.save(tmp_path / f"{one}{SUFFIX}")
        weights, _ = load_tensors(tmp_path / f"{one}{SUFFIX}")
        assert all(tensor.dtype != torch.bfloat16 and tensor.isfinite().all() for tensor in weights.values())
        found.append(weights.values())
    assert not all(torch.equal(*pair) for pair in zip(*found))


def test_a_run_keeps_the_precision_that_it_began_with(fastest, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    begin = ["train", "td", "--folder", "mine", "--episodes", "64", "--hidden", "8", "--hidden-discard", "8"]
    monkeypatch.setattr(sys, "argv", [*begin, "--evaluations", "0", "--final-games", "20"])
    with monkeypatch.context() as patch:
        patch.setattr("crib_env.train.td.TD.play_and_learn", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(SystemExit):
            train_command.main()
    here = processor()
    assert f"precision: {fastest}; processor: {here}\n" in capsys.readouterr().out
    config = json.loads((tmp_path / "mine" / "config.json").read_text())
    assert config["settings"]["precision"] == fastest
    assert config["processor"] == here
    # On the other kind of processor:
    take(*({*FORMATS} - {fastest}), monkeypatch)
    monkeypatch.setattr(sys, "argv", ["train", "td", "--resume", "mine"])
    train_command.main()
    said = capsys.readouterr().out
    emulated = ", emulated and slow" if fastest == "bfloat16" else ""
    assert f"precision: {fastest}{emulated}; processor: {processor()}\n" in said
    assert f"begun on {here}: digits may differ from those of a run on one processor\n" in said
    assert json.loads((tmp_path / "mine" / "config.json").read_text()) == config


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_is_compared_with_the_row_of_its_precision(name, tmp_path, capsys):
    """A small learner, whose expected rows are what its runs come to, then those of each other's precision."""
    small = replace(DDQN, episodes=256, evaluations=0)

    class Learner(ddqn.DDQN):
        PRESETS = {"default": small}
        EXPECTED = dict.fromkeys(FORMATS, "never")

    folder = RunFolder.create("ddqn", small, tmp_path)
    settings = replace(small, precision=name)
    run_learner(Learner, settings, folder, lambda: Progress(disable=True))
    assert f"this run, in {name}: not the digits expected" in capsys.readouterr().out
    result = json.loads((folder.path / "summary.json").read_text())["strength"]["greedy"]
    Learner.EXPECTED[name] = f"{result['win_rate']:.2%} ({result['interval'][0]:.2%} to {result['interval'][1]:.2%})"
    run_learner(Learner, settings, RunFolder.create("ddqn", small, tmp_path), lambda: Progress(disable=True))
    said = capsys.readouterr().out
    rows = [f"{Learner.EXPECTED[one]} in {one}" for one in FORMATS]
    assert f"expected against greedy: {' and '.join(rows)}\n" in said
    assert f"this run, in {name}: as expected\n" in said


def test_only_the_default_run_is_compared():
    default = ddqn.PRESETS["default"]
    assert _is_expected(ddqn.DDQN, replace(default, precision="float32", evaluations=0, checkpoint_seconds=1.0))
    for change in ({"seed": 1}, {"final_games": 1_000}, {"threads": 2}, {"episodes": 1_024}):
        assert not _is_expected(ddqn.DDQN, replace(default, **change))
    assert not _is_expected(TDLearner, TDLearner.PRESETS["default"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["auto", "float32"])
def test_the_default_run_comes_to_the_digits_of_its_precision(name, tmp_path):
    """On processors where matrix products round as on those of the stated figures."""
    line, options = command("train", "ddqn", "--precision", name, "--evaluations", "0", cwd=tmp_path)
    said = subprocess.run(line, check=True, capture_output=True, **options).stdout
    assert f"this run, in {chosen(name)}: as expected\n" in said
    rate = re.search(r"greedy\D+10,000\D+([\d.]+%)\D+([\d.]+% to [\d.]+%)", said)
    assert f"{rate[1]} ({rate[2]})" == ddqn.DDQN.EXPECTED[chosen(name)]
