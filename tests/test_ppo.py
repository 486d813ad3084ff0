"""PPO: its rewards against those of Double DQN, that it learns, that a stopped run goes on, and its agent's files."""

import json

import numpy as np
import pytest
import torch
from rich.progress import Progress
from sb3_contrib import MaskablePPO
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from crib_env.agents import make_agent
from crib_env.batch import GameBatch
from crib_env.engine import starter
from crib_env.evaluate.runs.learning_curves import read_scalars
from crib_env.kernels import streams
from crib_env.train import ppo
from crib_env.train.loop.run import Rounds
from crib_env.train.loop.run_folder import RunFolder
from crib_env.train.ppo import PPOLearner, SettledDeals, SettledVecEnv
from crib_env.train.shared.experience import play_episodes, rewards_of
from crib_env.train.td import the_bits
from tests.helpers.decided import decided
from tests.helpers.learner_runs import finished_run, run, stopped_run
from tests.helpers.ranks_from_bits import seen_in
from tests.helpers.small_ppo import PPO as SMALL


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small run: its folder, agent and summary."""
    return finished_run(ppo, SMALL, tmp_path_factory.mktemp("runs"))


def some_views(n=200):
    batch = decided(7, n, episode="deal")
    return batch.views(batch.acting())


def first_card(masks):
    return masks.argmax(axis=1)


def test_rewards_are_settled_as_those_of_double_dqn_are():
    n = 200
    envs = SettledDeals(n, opponent="greedy", mask="info", autoreset_mode="SameStep")
    _, infos = envs.reset(seed=40)
    rewards = np.empty((n, 6))
    for k in range(6):
        _, rewards[:, k], over, _, infos = envs.step(first_card(infos["action_mask"]))
    assert over.all()

    batch = GameBatch(np.concatenate([streams(40 + i, 1) for i in range(n)]), episode="deal")
    decisions = play_episodes(batch, lambda seen, *_: first_card(seen.legal), make_agent("greedy"), the_bits)
    expected, _ = rewards_of(decisions, settled=True)
    has_heels = [starter(game) % 13 == 10 for game in batch.games]  # they are paid here, and left out there
    compared = 0
    for game in range(0, n, 2):  # in the others the learner has seat 1
        if not has_heels[game]:
            np.testing.assert_allclose(rewards[game], expected[decisions.chain == 2 * game], atol=1e-9)
            compared += 1
    assert compared > 80
    assert (rewards[:, :2].min(axis=1) < -0.5).any()


def test_rewards_are_settled_in_every_mode_of_autoreset():
    """With ``NEXT_STEP`` a deal begins in a step of its own, which earns nothing."""
    same = SettledDeals(50, opponent="greedy", mask="info", autoreset_mode="SameStep")
    later = SettledDeals(50, opponent="greedy", mask="info")
    masks, later_masks = same.reset(seed=3)[1]["action_mask"], later.reset(seed=3)[1]["action_mask"]
    for _ in range(3):
        for _ in range(6):
            _, rewards, over, _, infos = same.step(first_card(masks))
            _, later_rewards, later_over, _, later_infos = later.step(first_card(later_masks))
            np.testing.assert_array_equal(rewards, later_rewards)
            np.testing.assert_array_equal(over, later_over)
            masks, later_masks = infos["action_mask"], later_infos["action_mask"]
        assert over.all()
        _, nothing, _, _, later_infos = later.step(np.zeros(50, np.int64))
        later_masks = later_infos["action_mask"]
        assert not nothing.any()


def test_deals_are_observed_by_rank_with_known_gains():
    rng = np.random.default_rng(0)
    plain = SettledDeals(50, opponent="greedy", mask="info", autoreset_mode="SameStep")
    envs = SettledVecEnv(50, opponent="greedy")
    envs.seed(9)
    seen, (observation, infos) = envs.reset(), plain.reset(seed=9)
    for k in range(13):
        masks = infos["action_mask"]
        expected = seen_in(observation, masks, np.full(50, k % 6 < 2))
        assert seen.shape == (50, *envs.observation_space.shape)
        np.testing.assert_array_equal(seen[:, :-52], expected.inputs)
        np.testing.assert_array_equal(seen[:, -52:], np.where(masks != 0, expected.gains, 0))
        np.testing.assert_array_equal(envs.action_masks(), masks != 0)
        np.testing.assert_array_equal(np.stack(envs.env_method("action_masks")), masks != 0)
        cards = (masks * rng.random(masks.shape)).argmax(axis=1)
        seen, rewards, over, _ = envs.step(cards)
        observation, points, ends, _, infos = plain.step(cards)
        np.testing.assert_allclose(rewards, points, rtol=1e-6)
        np.testing.assert_array_equal(over, ends)


def test_a_run_leaves_weights_curves_and_stable_baselines3s_own_file(finished):
    folder, agent, summary = finished
    assert summary["episodes"] == 1_024  # whole rounds
    assert json.loads((folder.path / "summary.json").read_text())["episodes"] == 1_024
    assert read_scalars(folder.path, "evaluation/win rate against greedy")[0] == [0, 512, 1_024]
    for tag in ("learning/critic loss", "learning/mean value", "speed/episodes per second"):
        assert len(read_scalars(folder.path, tag)[0]) >= 7

    model = MaskablePPO.load(folder.path / "final")
    views = some_views()
    ranks, gains = views.ranks_and_gains
    inputs = np.concatenate([ranks, np.where(views.action_mask, gains, 0)], axis=1, dtype=np.float32)
    theirs, _ = model.predict(inputs, action_masks=views.action_mask, deterministic=True)
    np.testing.assert_array_equal(agent.act(views), theirs)


def test_a_reward_that_is_nan_stops_before_a_weight_changes(monkeypatch, tmp_path):
    step_wait, learner = SettledVecEnv.step_wait, PPOLearner(SMALL)

    def without_rewards(games):
        observation, rewards, over, infos = step_wait(games)
        return observation, np.nan * rewards, over, infos

    monkeypatch.setattr(SettledVecEnv, "step_wait", without_rewards)
    folder = RunFolder.create("ppo", SMALL, tmp_path)
    with (
        Progress(disable=True) as progress,
        pytest.raises(FloatingPointError, match="a gradient that is not finite"),
    ):
        learner.own_loop(Rounds(SMALL, folder, progress, learner))
    before = PPOLearner(SMALL).state_dict()
    assert all(torch.equal(learner.state_dict()[key], tensor) for key, tensor in before.items())


def scalars_of(folder, timeless):
    """Steps and values of the scalars that hold no times."""
    tags = EventAccumulator(str(folder.path)).Reload().Tags()["scalars"]
    return {tag: read_scalars(folder.path, tag) for tag in tags if tag.startswith(timeless)}


def test_a_run_stopped_by_ctrl_c_goes_on_to_the_same_weights_and_curves(finished, tmp_path):
    unstopped, whole, _ = finished
    folder = stopped_run(ppo, SMALL, tmp_path, 384)
    assert not (folder.path / "final.zip").exists()
    agent, summary = run(ppo, SMALL, RunFolder(folder.path))
    assert summary["episodes"] == 1_024
    one, two = agent.networks.state_dict(), whole.networks.state_dict()
    assert all(torch.equal(one[key], two[key]) for key in two)
    timeless = ("evaluation", "learning")
    curves = scalars_of(folder, timeless)
    assert curves == scalars_of(unstopped, timeless)
    assert curves["learning/KL"][0] == list(range(128, 1_025, 128))
