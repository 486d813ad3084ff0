"""Runs of ``train best``: they repeat, go on, and do not depend on threads; bad settings are named."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from crib_env.train.best import learner as best
from crib_env.train.loop.run_folder import RunFolder, in_all
from tests.helpers.learner_runs import InterruptedProgress, new_run, run, stopped_run
from tests.helpers.small_settings import BEST as SMALL
from tests.helpers.solved_play import learn_from_a_small_game


@pytest.fixture(autouse=True)
def _small_game(monkeypatch):
    learn_from_a_small_game(monkeypatch)


def assert_same(one, other):
    for key, value in one.state_dict().items():
        assert torch.equal(value, other.state_dict()[key]), key


def test_a_run_learns_both_policies(tmp_path):
    agent, summary = new_run(best, SMALL, tmp_path)
    assert set(agent.policies) == {"pegging", "deals"}
    assert summary["episodes"] == 131_072
    assert summary["updates"] == 256


def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path):
    whole, summary = new_run(best, SMALL, tmp_path / "whole")
    folder = RunFolder.create("best", SMALL, tmp_path / "stopped")
    with pytest.raises(KeyboardInterrupt):
        run(best, SMALL, folder, InterruptedProgress(after=65_536))
    assert RunFolder(folder.path / "policy-pegging").load_checkpoint()[1]["episodes"] == 65_536
    gone_on, summary_gone_on = run(best, SMALL, folder)
    assert_same(whole, gone_on)
    assert summary["updates"] == summary_gone_on["updates"]


def test_a_run_stopped_in_its_last_policy_goes_on_to_the_same_weights(tmp_path):
    its = replace(SMALL, episode="pegging")
    whole, _ = new_run(best, its, tmp_path / "whole")
    gone_on, _ = run(best, its, stopped_run(best, its, tmp_path / "stopped", after=65_536))
    assert set(whole.policies) == {"pegging"}
    assert_same(whole, gone_on)


def test_a_summary_has_the_time_of_all_parts():
    parts = [
        {"episodes": 10, "seconds": 2.0, "processor_seconds": 1.0, "simulation_share": 0.5},
        {"episodes": 40, "seconds": 6.0, "processor_seconds": 3.0, "simulation_share": 0.1},
    ]
    assert in_all(parts) == pytest.approx(
        {"episodes": 40, "seconds": 8.0, "processor_seconds": 4.0, "episodes_per_second": 5.0, "simulation_share": 0.2}
    )


@pytest.mark.slow
def test_the_result_does_not_depend_on_threads(tmp_path):
    one, _ = new_run(best, SMALL, tmp_path / "one")
    two, _ = new_run(best, replace(SMALL, threads=2), tmp_path / "two")
    assert_same(one, two)
