"""Behaviour cloning from a dataset."""

import numpy as np
import pytest
import torch

from crib_env import GameBatch, streams
from crib_env.agents import make_agent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.policy import CloneAgent
from crib_env.agents.networks.seen import Seen
from crib_env.evaluate.commands.dataset import dataset
from crib_env.evaluate.matches import dataset as dataset_module
from crib_env.evaluate.matches.dataset import action_masks, observations, read_dataset
from crib_env.evaluate.progress import ProgressLines
from crib_env.train.clone import CloneSettings, Cloning, choices_of
from crib_env.train.loop.run import train
from crib_env.train.loop.run_folder import RunFolder
from tests.helpers.ranks_from_bits import seen_in
from tests.helpers.refusals import refused

pytest.importorskip("pyarrow")
QUICK = {"evaluations": 0, "final_games": 2, "episodes_at_once": 20, "batch_size": 64}
QUICK |= {"hidden": (32,), "hidden_discard": (32,)}


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset_module, "GAMES_A_SHARD", 20)
    dataset(tmp_path / "data", ("greedy", "greedy"), games=40)
    return tmp_path / "data"


def run(data, path, **settings):
    settings = CloneSettings(data=str(data), **{**QUICK, **settings})
    folder = RunFolder.create("clone", settings, folder=path) if not path.exists() else RunFolder.open(path, "clone")[0]
    with ProgressLines() as progress:
        rounds, agent = train(Cloning, settings, folder, progress)
        return agent, rounds.position.summary(), folder


def cards_chosen(rows):
    """Of the decisions that choices_of keeps: those of discards, and of cards laid with two ranks to choose from."""
    masks = action_masks(rows).reshape(-1, 4, 13)
    return rows.action[(rows.place < 4) | (masks.any(axis=1).sum(axis=1) > 1)].astype(int)


def test_choices_hold_what_was_chosen(data):
    rows = next(read_dataset(data))
    choices = choices_of(rows, seed=0)
    n_chosen = choices.chosen.sum(axis=1)[choices.is_discard]
    assert (n_chosen == np.where(rows.place % 2 == 0, 2, 1)[rows.place < 4]).all()
    assert choices.chosen[np.arange(len(choices.chosen)), cards_chosen(rows)].all()
    legal = choices.gains > -np.inf
    assert (choices.chosen <= legal).all()
    assert choices.chosen.any(axis=1).all()
    assert (legal.reshape(-1, 4, 13).any(axis=1).sum(axis=1)[~choices.is_discard] > 1).all()
    assert choices.is_discard.sum() == (rows.place < 4).sum()
    free = (rows.place < 4) | (action_masks(rows).reshape(-1, 4, 13).any(axis=1).sum(axis=1) > 1)
    expected = seen_in(observations(rows)[free], action_masks(rows)[free], choices.is_discard)
    np.testing.assert_array_equal(choices.inputs, expected.inputs)
    np.testing.assert_array_equal(choices.gains, expected.gains)


@pytest.mark.slow
def test_it_learns_to_choose_as_the_players_did(data, tmp_path):
    agent, summary, _ = run(data, tmp_path / "run", episodes=600)
    choices = choices_of(next(read_dataset(data)), seed=0)
    best = agent.networks.choose(Seen(choices.inputs, choices.gains), choices.is_discard)
    agreed = choices.chosen[np.arange(len(best)), best]
    assert agreed[choices.is_discard].mean() > 0.35
    assert agreed[~choices.is_discard].mean() > 0.6
    assert summary["episodes"] == 600


def test_runs_repeat_and_play_from_their_weights(data, tmp_path):
    (one, summary, folder), (other, _, _) = (run(data, tmp_path / name, episodes=40) for name in ("a", "b"))
    for name, tensor in one.networks.state_dict().items():
        assert (tensor == other.networks.state_dict()[name]).all()
    assert summary["updates"] > 10
    one.save(folder.final)
    views = GameBatch(streams(0, 200), episode="pegging").views(np.arange(200))
    mode, likely, drawn = (
        make_agent(text).act(views) % 13
        for text in (str(folder.path), f"clone:{folder.final},plays=mode", f"clone:{folder.final},plays=sample")
    )
    np.testing.assert_array_equal(mode, likely)
    assert 0 < (mode != drawn).mean() < 0.9


def test_cards_are_drawn_as_often_as_the_loss_of_cloning_says():
    torch.manual_seed(0)
    trained = DDQNAgent.new("split", "209", "ranks", (16,))
    views = GameBatch(streams(0, 50), episode="pegging").views(np.arange(50))
    chances = [CloneAgent(trained, "sample", temperature=t).probabilities(views) for t in (1.0, 0.25)]
    sharper = np.where(views.action_mask, chances[0] ** 4, 0)
    np.testing.assert_allclose(chances[1], sharper / sharper.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-7)


def test_a_folder_without_a_dataset_is_refused(tmp_path):
    with refused(tmp_path):
        run(tmp_path, tmp_path / "run", episodes=20)
    with pytest.raises(ValueError, match="give the folder of a dataset"):
        run("", tmp_path / "run2", episodes=20)
