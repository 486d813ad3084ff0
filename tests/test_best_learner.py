"""Runs of ``train best``: they repeat, go on, and do not depend on threads; bad settings are named."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from crib_env.train import best
from crib_env.train.loop.run_folder import RunFolder
from tests.helpers.learner_runs import new_run, run, stopped_run
from tests.helpers.small_settings import BEST as SMALL
from tests.helpers.solved_play import learn_from_a_small_game


@pytest.fixture(autouse=True)
def _small_game(monkeypatch):
    learn_from_a_small_game(monkeypatch)


def assert_same(one, other):
    for key, value in one.state_dict().items():
        assert torch.equal(value, other.state_dict()[key]), key


# In the first policy, between both, in the last.
@pytest.mark.parametrize(
    "after", [pytest.param(65_536, marks=pytest.mark.slow), 131_072, pytest.param(196_608, marks=pytest.mark.slow)]
)
def test_a_run_learns_both_policies_and_a_stopped_one_the_same(tmp_path, after):
    whole, summary = new_run(best, SMALL, tmp_path / "whole")
    assert set(whole.policies) == {"pegging", "deals"}
    assert summary["episodes"] == 2 * 131_072
    assert summary["updates"] == 2 * 128
    folder = stopped_run(best, SMALL, tmp_path / "stopped", after)
    gone_on, summary_gone_on = run(best, SMALL, RunFolder(folder.path))
    assert_same(whole, gone_on)
    assert summary["updates"] == summary_gone_on["updates"]


@pytest.mark.slow
def test_the_result_does_not_depend_on_threads(tmp_path):
    one, _ = new_run(best, SMALL, tmp_path / "one")
    two, _ = new_run(best, replace(SMALL, threads=2), tmp_path / "two")
    assert_same(one, two)
