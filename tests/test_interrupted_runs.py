"""Interrupted runs of every learner: killed ones end like others, diverging ones keep their last good checkpoint."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from crib_env.agents import make_agent
from crib_env.agents.networks.weights_file import load_tensors
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.train import strategy_weights
from crib_env.train.discard_game import DiscardPlayer
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.shared.gradients import Descent
from tests.helpers.killed_runs import KINDS, kill_and_compare
from tests.helpers.learner_runs import finished_run, run, stopped_run
from tests.helpers.solved_play import learn_from_a_small_game


class NotANumber(strategy_weights.StrategyWeightsSettings):
    """Settings by which every update is NaN."""

    @property
    def rule(self):
        return super().rule._replace(scaling=math.nan)


FAST = {"learning_rate": 1e30, "final_learning_rate": 1e30}
LOSS = r"the (loss|gradient|sum of squared errors|norm of the weights).* is (nan|inf)"
EXPLODING = {
    **{name: (name, lambda settings: replace(settings, **FAST), LOSS) for name in KINDS if name != "mmd-tables"},
    "nfsp": ("nfsp", lambda settings: replace(settings, **FAST, average_learning_rate=1e-3), LOSS),
    "nfsp average": (
        "nfsp",
        lambda settings: replace(settings, average_learning_rate=1e30),
        r"the norm of the weights of network '\w+' of the average policy is inf",
    ),
    "ppo": ("ppo", lambda settings: replace(settings, **FAST), "the policy's logits are no longer finite"),
    "strategy-weights": (
        "strategy-weights",
        lambda settings: NotANumber(**vars(settings)),
        "weights are no longer numbers",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_killed_run_goes_on_to_the_same_weights(tmp_path, name):
    kill_and_compare(KINDS[name], tmp_path)


@pytest.mark.parametrize("name", KINDS)
def test_a_stopped_run_goes_on_to_the_same_weights_and_another_seed_comes_to_others(tmp_path, monkeypatch, name):
    learn_from_a_small_game(monkeypatch)
    learner, settings, _ = KINDS[name]
    settings = replace(settings, episodes=4 * settings.episodes_at_once, evaluations=0)
    whole, agent, summary = finished_run(learner, settings, tmp_path)
    stopped = stopped_run(learner, settings, tmp_path, 2 * settings.episodes_at_once)
    _, again = run(learner, settings, RunFolder(stopped.path))
    other, _, _ = finished_run(learner, replace(settings, seed=1), tmp_path)
    assert again["episodes"] == summary["episodes"] == settings.all_episodes
    expected, same, different = (load_tensors(folder.final)[0] for folder in (whole, stopped, other))
    assert all(torch.equal(same[key], tensor) for key, tensor in expected.items())
    assert not all(torch.equal(different[key], tensor) for key, tensor in expected.items())
    if not isinstance(agent, DiscardPlayer):
        views = GameBatch(streams(0, 30)).views(np.arange(30))
        cards = [make_agent(one).act(views) for one in (str(whole.path), f"{name.split()[0]}:{whole.final}")]
        np.testing.assert_array_equal(*cards)


@pytest.mark.parametrize("name", EXPLODING)
def test_a_run_that_explodes_stops_and_the_last_good_checkpoint_stays(tmp_path, monkeypatch, name):
    learn_from_a_small_game(monkeypatch)
    kind_name, broken, message = EXPLODING[name]
    kind = KINDS[kind_name]
    settings = replace(kind.settings, episodes=3 * kind.at_once, evaluations=0)
    folder = stopped_run(kind.learner, settings, tmp_path, after=kind.at_once)
    tensors, about = folder.load_checkpoint()
    about["settings"] = asdict(broken(settings))  # else it would not go on with them
    folder.save_checkpoint(kind.at_once, tensors, about)
    with pytest.raises(FloatingPointError, match=message):
        run(kind.learner, broken(settings), RunFolder(folder.path))
    tensors, position = folder.load_checkpoint()
    assert position["episodes"] == kind.at_once
    # Gains that are kept are -inf where a card is not legal.
    floats = {k: tensor for k, tensor in tensors.items() if tensor.is_floating_point() and not k.endswith("gains")}
    assert [key for key, tensor in floats.items() if not tensor.isfinite().all()] == []


@pytest.mark.parametrize(
    ("loss_of", "message"),
    [
        (lambda value: value * math.nan, "the loss of the net is nan"),
        (lambda value: value + math.inf, "the loss of the net is inf"),
        (lambda value: value.sqrt(), "the loss of the net is 0.0, and its gradient is (nan|inf)"),  # that of √0
    ],
)
def test_a_step_that_is_not_finite_is_not_taken(loss_of, message):
    network = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.zeros_(network.weight)
    with pytest.raises(FloatingPointError, match=message):
        Descent(network, "the net").step(loss_of(network(torch.ones(2)).sum()), 1e-3)
    assert (network.weight == 0).all()
