"""Both precisions, whatever the processor: which one a run takes, says and keeps, and training in each."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from unittest.mock import Mock

import pytest
import torch

from crib_env.agents.networks.weights_file import SUFFIX, load_tensors
from crib_env.train import __main__ as train_command
from crib_env.train.loop import settings as number_format
from crib_env.train.loop.settings import has_bfloat16, processor
from crib_env.train.registry import LEARNERS
from crib_env.train.shared.gradients import precision
from tests.helpers.killed_runs import KINDS
from tests.helpers.learner_runs import command, new_run
from tests.helpers.refusals import refused
from tests.helpers.small_settings import DDQN
from tests.helpers.solved_play import learn_from_a_small_game

FORMATS = ("float32", "bfloat16")[: 1 + has_bfloat16()]
WITHOUT_NETWORKS = ("mmd-tables", "strategy-weights")
NETWORKS = [name for name in KINDS if name in LEARNERS and name not in WITHOUT_NETWORKS]
ENDS = {"bfloat16": ("60.06%", "59.38% to 60.74%"), "float32": ("60.64%", "59.95% to 61.32%")}  # of make train


def test_auto_is_what_the_processor_has_instructions_for(monkeypatch):
    with precision("bfloat16"):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
    for has, fastest in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(number_format, "has_bfloat16", lambda has=has: has)
        assert replace(DDQN, precision="auto") == replace(DDQN, precision=fastest)
        assert DDQN.precision == replace(DDQN, seed=1).precision == "float32"
    with refused("precision='bfloat16' is not allowed: this processor has no instructions for it"):
        replace(DDQN, precision="bfloat16")


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


def test_a_run_keeps_the_precision_that_it_began_with(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(number_format, "has_bfloat16", lambda: True)
    begin = ["train", "td", "--folder", "mine", "--episodes", "64", "--precision", "bfloat16"]
    monkeypatch.setattr(sys, "argv", [*begin, "--evaluations", "0", "--final-games", "20"])
    monkeypatch.setattr("crib_env.train.td.TD.play_and_learn", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(SystemExit):
        train_command.main()
    assert f"precision: bfloat16; processor: {processor()}\n" in capsys.readouterr().out
    assert json.loads((tmp_path / "mine" / "config.json").read_text())["processor"] == processor()
    monkeypatch.setattr(number_format, "has_bfloat16", lambda: False)
    monkeypatch.setattr(sys, "argv", ["train", "td", "--resume", "mine"])
    with pytest.raises(SystemExit):
        train_command.main()
    assert "precision='bfloat16' is not allowed" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["auto", "float32"])
def test_the_default_run_comes_to_the_digits_of_its_precision(name, tmp_path):
    """On processors where matrix products round as on those of the stated figures."""
    line, options = command("train", "ddqn", "--precision", name, "--evaluations", "0", cwd=tmp_path)
    said = subprocess.run(line, check=True, capture_output=True, **options).stdout
    (taken,) = re.findall(r"precision: (\w+);", said)
    rate, interval = ENDS[taken]
    assert f"finished: win rate against greedy {rate} ({interval})" in said
