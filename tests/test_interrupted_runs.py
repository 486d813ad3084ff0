"""Interrupted runs of every learner: killed ones end like others, diverging ones keep their last good checkpoint."""

import json
import math
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
import torch

from crib_env.agents.networks.weights_file import load_tensors
from crib_env.train import ddqn, drqn, nfsp
from crib_env.train.best import learner as best
from crib_env.train.discard_game import learner as discard_game
from crib_env.train.loop.gradient import descend
from crib_env.train.loop.run import run_learner
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.ppo import learner as ppo
from crib_env.train.strategy_weights import learner as strategy_weights
from crib_env.train.strategy_weights.learner import _CHUNK
from crib_env.train.td import learner as td
from tests.helpers import small_ppo, small_settings
from tests.helpers.learner_runs import killed_run, run, stopped_run
from tests.helpers.solved_play import learn_from_a_small_game


class Kind(NamedTuple):
    """A learner, small settings, and how many rounds take about two seconds: enough to kill it between them."""

    learner: Any
    settings: Any
    rounds: int

    @property
    def at_once(self):
        return getattr(self.settings, "episodes_at_once", _CHUNK)


KINDS = {
    "best": Kind(best, replace(small_settings.BEST, episode="pegging", pegging_iterations=1), 10),
    "ddqn": Kind(ddqn, small_settings.DDQN, 24),
    "ddqn parts": Kind(ddqn, replace(small_settings.DDQN, dueling=True, priority_alpha=0.6, n_step=2), 24),
    "discard-game": Kind(discard_game, small_settings.DISCARD_GAME, 64),
    "discard-game paper": Kind(discard_game, small_settings.DISCARD_GAME_PAPER, 64),
    "drqn": Kind(drqn, small_settings.DRQN, 16),
    "drqn games": Kind(drqn, replace(small_settings.DRQN, episodes_at_once=32, **small_settings.DRQN_GAMES), 16),
    "nfsp": Kind(nfsp, small_settings.NFSP, 16),
    "ppo": Kind(ppo, small_ppo.PPO, 24),
    "td": Kind(td, small_settings.TD, 32),
    "td paper": Kind(td, small_settings.TD_PAPER, 64),
    "td traces": Kind(td, replace(small_settings.TD_PAPER, td_lambda=0.7), 64),
    "strategy-weights": Kind(strategy_weights, small_settings.STRATEGY_WEIGHTS, 16),
}
QUICK = ("ddqn",)  # the others are slow only together


class NotANumber(strategy_weights.Settings):
    """Settings by which every update is NaN."""

    @property
    def rule(self):
        return super().rule._replace(scaling=math.nan)


FAST = {"learning_rate": 1e30, "final_learning_rate": 1e30}
LOSS = r"the (loss|gradient|sum of squared errors|norm of the weights).* is (nan|inf)"
EXPLODING = {
    **{name: (name, lambda settings: replace(settings, **FAST), LOSS) for name in KINDS},
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
        "weights of the agents 0 and 0 are no longer numbers",
    ),
}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in KINDS]
)
def test_a_killed_run_goes_on_to_the_same_weights(tmp_path, name):
    kind = KINDS[name]
    settings = replace(kind.settings, episodes=kind.rounds * kind.at_once, evaluations=1, checkpoint_seconds=0.0)
    folder = killed_run(kind.learner, settings, tmp_path)
    position = folder.load_checkpoint()[1]
    whole = RunFolder.create(kind.learner.NAME, settings, tmp_path)
    for one in (folder, whole):
        run_learner(kind.learner, settings, one)
    tensors, expected = (load_tensors(one.final)[0] for one in (folder, whole))
    assert tensors.keys() == expected.keys()
    for key, tensor in expected.items():
        assert torch.equal(tensors[key], tensor), key

    summary, of_whole = (json.loads((one.path / "summary.json").read_text()) for one in (folder, whole))
    assert summary["episodes"] == settings.episodes > position["episodes"]
    assert summary["updates"] == of_whole["updates"]
    assert summary["seconds"] > position["seconds"]  # what was done before counts too
    assert summary["scalars"] == of_whole["scalars"]


@pytest.mark.parametrize("name", EXPLODING)
def test_a_run_that_explodes_stops_and_the_last_good_checkpoint_stays(tmp_path, monkeypatch, name):
    learn_from_a_small_game(monkeypatch)
    kind_name, broken, message = EXPLODING[name]
    kind = KINDS[kind_name]
    settings = replace(kind.settings, episodes=3 * kind.at_once, evaluations=0)
    folder = stopped_run(kind.learner, settings, tmp_path, after=kind.at_once)
    with pytest.raises(FloatingPointError, match=message):
        run(kind.learner, broken(settings), RunFolder(folder.path))
    tensors, position = folder.load_checkpoint()
    assert position["episodes"] == kind.at_once
    # A replay buffer's gains are -inf where a card is not legal.
    floats = {k: tensor for k, tensor in tensors.items() if tensor.is_floating_point() and "next_gains" not in k}
    assert [key for key, tensor in floats.items() if not tensor.isfinite().all()] == []


@pytest.mark.parametrize(
    ("loss_of", "message"),
    [
        (lambda value: value * math.nan, "the loss of the net is nan"),
        (lambda value: value + math.inf, "the loss of the net is inf"),
        (lambda value: value.sqrt(), "the gradient of the net is (nan|inf)"),  # that of √0
    ],
)
def test_a_step_that_is_not_finite_is_not_taken(loss_of, message):
    network = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.zeros_(network.weight)
    optimizer = torch.optim.Adam(network.parameters())
    with pytest.raises(FloatingPointError, match=message):
        descend(loss_of(network(torch.ones(2)).sum()), network, optimizer, 1e-3, "the net")
    assert (network.weight == 0).all()
