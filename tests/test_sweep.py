"""Several seeds of one learner: each run equals the run alone, mean and spread by hand, stopped ones go on."""

import json
import subprocess
from dataclasses import asdict, replace

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents import make_agent
from tests.learner_runs import command, run
from tests.test_ddqn import SMALL
from train import ddqn
from train.__main__ import take_seeds
from train.run_folder import RunFolder
from train.sweep import Sweep, spread_of

TINY = replace(SMALL, episodes=256, seed=3)


def sweep(path):
    path.mkdir(exist_ok=True)
    Sweep(ddqn, TINY, 2, path).run()


def weights_of(run):
    return make_agent(f"ddqn:{run}/final").tensors()


def test_spread_by_hand():
    assert spread_of([1.0, 3.0]) == {"mean": 2.0, "standard deviation": 2.0**0.5, "lowest": 1.0, "highest": 3.0}


@pytest.mark.parametrize("given", [["--seeds", "5", "--hidden", "8"], ["--hidden", "8", "--seeds=5"]])
def test_the_number_of_seeds_is_taken_out_of_the_arguments(given):
    assert take_seeds(given) == (5, ["--hidden", "8"])


def test_without_a_number_of_seeds_arguments_stay():
    assert take_seeds(["--seed", "5"]) == (None, ["--seed", "5"])


@pytest.mark.parametrize("text", ["1", "0", "-3", "many"])
def test_a_bad_number_of_seeds_is_named(text):
    with pytest.raises(ValueError, match=f"seeds='{text}' is not allowed"):
        take_seeds(["--seeds", text])


def test_a_sweep_that_was_stopped_goes_on_and_equals_its_runs_alone(tmp_path):
    path = tmp_path / "sweep"
    (path / "seed-4").mkdir(parents=True)
    RunFolder.begin(path / "seed-4", "ddqn", asdict(replace(TINY, seed=4)))  # begun, and stopped before a checkpoint
    sweep(path)
    finished = (path / "seed-3" / "summary.json").stat().st_mtime_ns
    (path / "summary.json").unlink()
    sweep(path)  # finds both finished
    assert (path / "seed-3" / "summary.json").stat().st_mtime_ns == finished

    for seed in (3, 4):
        alone, _ = run(ddqn, replace(TINY, seed=seed), RunFolder.create("ddqn", replace(TINY, seed=seed), tmp_path))
        for key, value in weights_of(path / f"seed-{seed}").items():
            assert np.array_equal(value.numpy(), alone.tensors()[key].numpy()), key

    summary = json.loads((path / "summary.json").read_text())
    assert summary["seeds"] == [3, 4]
    tag = "strength/win rate against greedy"
    finals = [json.loads((path / f"seed-{seed}" / "summary.json").read_text())["scalars"][tag] for seed in (3, 4)]
    assert summary["final"][tag]["mean"] == pytest.approx(np.mean(finals))
    assert (path / "against-greedy.png").exists()

    events = EventAccumulator(str(path)).Reload()
    mean, low, high = (events.Scalars(name)[-1].value for name in (tag, f"{tag} low", f"{tag} high"))
    assert low <= mean <= high
    assert mean == pytest.approx(np.mean(finals), rel=1e-6)


def test_the_command(tmp_path):
    small = ["--seeds", "2", "--episodes", "64", "--episodes-at-once", "64", "--evaluations", "1"]
    few = ["--evaluation-games", "4", "--final-games", "4", "--hidden", "8"]
    arguments, options = command("train", "ddqn", *small, *few, cwd=tmp_path)
    done = subprocess.run(arguments, capture_output=True, check=True, **options)
    assert "mean and range of 2 seeds" in done.stdout
    (folder,) = (tmp_path / "runs" / "ddqn").iterdir()
    assert folder.name.endswith("-s0-x2")
    arguments, options = command("train", "ddqn", "--resume", str(folder), cwd=tmp_path)
    again = subprocess.run(arguments, capture_output=True, check=True, **options)
    assert "mean and range of 2 seeds" in again.stdout
