"""Several seeds of one learner: each run equals the run alone, stopped sweeps continue."""

import sys
from dataclasses import asdict, replace

import numpy as np
import pytest

from crib_env.agents import make_agent
from crib_env.train import ddqn
from crib_env.train.__main__ import main
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.loop.sweep import sweep
from tests.helpers.learner_runs import run
from tests.helpers.refusals import refused
from tests.helpers.small_settings import DDQN as SMALL

TINY = replace(SMALL, episodes=128, episodes_at_once=64, seed=3)


def two_seeds(path):
    path.mkdir(exist_ok=True)
    sweep("ddqn", TINY, 2, path)


def weights_of(run):
    return make_agent(f"ddqn:{run}/final").state_dict()


def test_a_run_with_other_settings_is_not_taken_over(tmp_path):
    (tmp_path / "seed-3").mkdir()
    RunFolder.begin(tmp_path / "seed-3", "ddqn", asdict(replace(TINY, seed=3, hidden=(16,))))
    with refused("seed-3", "hidden=[16], not [32]"):
        two_seeds(tmp_path)


@pytest.mark.slow
def test_a_sweep_that_was_stopped_goes_on_and_equals_its_runs_alone(tmp_path):
    path = tmp_path / "sweep"
    (path / "seed-4").mkdir(parents=True)
    RunFolder.begin(path / "seed-4", "ddqn", asdict(replace(TINY, seed=4)))  # begun, and stopped before a checkpoint
    two_seeds(path)
    finished = (path / "seed-3" / "summary.json").stat().st_mtime_ns
    two_seeds(path)  # finds both finished
    assert (path / "seed-3" / "summary.json").stat().st_mtime_ns == finished

    for seed in (3, 4):
        alone, _ = run(ddqn, replace(TINY, seed=seed), RunFolder.create("ddqn", replace(TINY, seed=seed), tmp_path))
        for key, value in weights_of(path / f"seed-{seed}").items():
            assert np.array_equal(value.numpy(), alone.state_dict()[key].numpy()), key


def test_a_finished_sweep_is_reported_again_and_unchanged(tmp_path, monkeypatch, capsys):
    small = ["--episodes", "64", "--episodes-at-once", "64", "--evaluations", "1", "--evaluation-games", "4"]
    monkeypatch.chdir(tmp_path)

    def train(*arguments):
        monkeypatch.setattr(sys, "argv", ["train", "ddqn", *arguments])
        main()
        files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
        return capsys.readouterr().out, files

    shown, first = train("--folder", "two", "--seeds", "2", *small, "--final-games", "4", "--hidden", "8")
    table = shown[shown.rindex("weights: two/seed-1") :].partition("\n")[2]
    assert "win rate against greedy of 2 seeds: " in table
    again, files = train("--resume", "two")
    assert again.splitlines()[0] == "finished already: two"
    assert table.strip() in again
    assert files == first

    again, files = train("--resume", "two/seed-0")
    assert again.splitlines()[0] == "finished already: two/seed-0"
    assert "% ± " in again
    assert files == first
