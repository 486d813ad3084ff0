"""Environments of torch tensors: the same games as in arrays. ``make gpu`` compiles and simulates what a GPU runs."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch

import crib_env
from crib_env.agents import make_agent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.batch import GameBatch, standings
from crib_env.engine import DISCARD, EPISODES
from crib_env.gpu.games import TensorGames
from crib_env.gpu.vector import TensorVectorEnv
from crib_env.kernels import streams
from crib_env.options import OptionError

N = 48


def both(name="Cribbage", **options):
    """A vector environment of arrays, and one of tensors."""
    made = {"num_envs": N, "vectorization_mode": "vector_entry_point", **options}
    return [gymnasium.make_vec(f"crib_env/{name}-v0", **made, **device) for device in ({}, {"device": "cpu"})]


def plain(value):
    return value.numpy() if isinstance(value, torch.Tensor) else value


def assert_equal(arrays, tensors):
    for name in tensors:
        np.testing.assert_array_equal(plain(tensors[name]), arrays[name], err_msg=name)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Cribbage", {"opponent": "greedy"}),
        ("CribbagePegging", {"cards": 3}),
        ("CribbagePlay", {"opponent": "careful", "reward": "win", "seat": 1}),
        ("Cribbage", {"observation": "ranks", "opponent": "greedy", "episode": "deal", "start_spread": 5}),
        ("Cribbage", {"mask": "info", "reward": "match"}),
    ],
)
def test_games_equal_those_in_arrays(name, options):
    arrays, tensors = both(name, **options)
    dice, ends = np.random.default_rng(0), 0
    observation, infos = arrays.reset(seed=3)
    seen, told = tensors.reset(seed=3)
    for k in range(130):
        assert_equal(infos, told)
        if isinstance(observation, dict):
            assert_equal(observation, seen)
        else:
            np.testing.assert_array_equal(observation, seen.numpy())
        cards = (dice.random((N, 52)) * infos["action_mask"]).argmax(axis=1)
        if k % 9 == 4:
            cards[:3] = dice.integers(52, size=3)  # legal or not
        observation, rewards, over, truncated, infos = arrays.step(cards)
        seen, *outcome, told = tensors.step(torch.from_numpy(cards))
        for array, tensor in zip((rewards, over, truncated), outcome):
            np.testing.assert_array_equal(array, tensor.numpy())
        ends += over.sum()
    assert ends > 0


def test_a_reset_takes_seeds_scores_and_a_dealer():
    arrays, tensors = both()
    for given_now in (
        {"seed": [None, 2**70, *range(N - 2)], "options": {"first_dealer": 1, "scores": (7, 119)}},
        {"seed": 2**64 - 3},
    ):
        for env in (arrays, tensors):
            env.reset(**given_now)
        games = arrays.unwrapped.games
        own = tensors.unwrapped.games()
        seeded = slice(1, None) if "options" in given_now else slice(None)
        np.testing.assert_array_equal(own[seeded], games[seeded])


def test_illegal_cards_raise_where_they_are_to():
    env = TensorVectorEnv(4, "cpu", illegal="raise")
    observation, _ = env.reset(seed=0)
    cards = observation["action_mask"].argmax(1)
    cards[2] = 60
    with pytest.raises(ValueError, match="game 2"):
        env.step(cards)


@pytest.mark.parametrize(
    ("options", "offender"),
    [
        ({"device": "tpu"}, "tpu"),
        ({"dtype": "float32"}, "float32"),
        ({"events": True}, "events"),
        ({"opponent": crib_env.make_agent("heuristic")}, "opponent"),
        ({"num_envs": 0}, "num_envs"),
        ({"colour": 1}, "colour"),
    ],
)
def test_what_a_device_does_not_have_is_refused_by_name(options, offender):
    with pytest.raises(OptionError, match=offender):
        TensorVectorEnv(**{"num_envs": 2, "device": "cpu", **options})


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_without_a_gpu_one_error_says_what_is_missing(tmp_path):
    with pytest.raises(OptionError, match=r"numba-cuda|sees no GPU"):
        TensorVectorEnv(2, "cuda")
    weights = tmp_path / "w.safetensors"
    PolicyAgent("mmd", DDQNAgent.new("one", "209", "ranks", (4,))).save(weights)
    assert make_agent(f"mmd:path={weights},device=cpu").networks.device.type == "cpu"
    with pytest.raises(ValueError, match="torch sees no GPU"):
        make_agent(f"mmd:path={weights},device=cuda")


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        ([0, 0], TypeError),
        (torch.zeros(2), TypeError),
        (torch.zeros(2, dtype=torch.bool), TypeError),
        (torch.zeros(3, dtype=torch.int64), ValueError),
    ],
)
def test_actions_that_are_not_a_tensor_of_cards_are_refused(actions, error):
    env = TensorVectorEnv(2, "cpu")
    with pytest.raises(RuntimeError, match="reset"):
        env.step(torch.zeros(2, dtype=torch.int64))
    env.reset(seed=0)
    with pytest.raises(error, match="actions"):
        env.step(actions)


@pytest.mark.parametrize(
    "options", [{"episode": episode} for episode in EPISODES] + [{"episode": "pegging", "cards": 2}]
)
@pytest.mark.parametrize("skip_forced", [True, False])
def test_games_by_self_play_equal_those_of_a_batch(options, skip_forced):
    dice, batch = np.random.default_rng(0), GameBatch(streams(5, N), skip_forced=skip_forced, **options)
    games = TensorGames(streams(5, N), "cpu", skip_forced=skip_forced, board=True, **options)
    while (asked := games.asked()) is not None:
        rows = batch.acting()
        seats, views = batch.games["turn"][rows].astype(np.int64), batch.views(rows)
        np.testing.assert_array_equal(asked.chain, 2 * rows + seats)
        np.testing.assert_array_equal(asked.is_discard, batch.games["phase"][rows] == DISCARD)
        inputs, gains = batch.ranks_and_gains(rows)
        np.testing.assert_array_equal(asked.inputs, np.concatenate([inputs, views.board[:, 209:]], axis=1))
        np.testing.assert_array_equal(asked.gains, gains)
        held = batch.games["hand"][rows, 1 - seats][:, None] >> np.arange(52) & 1
        more = held.reshape(-1, 4, 13).sum(axis=1)[:, None] > np.arange(4)[:, None]
        np.testing.assert_array_equal(asked.others, more.reshape(-1, 52))
        for found, expected in zip((asked.points, asked.settled), standings(batch, rows, seats)):
            np.testing.assert_array_equal(found, expected)
        cards = (dice.random((len(rows), 52)) * views.action_mask).argmax(axis=1)
        games.step(torch.from_numpy(cards))
        batch.step(rows, cards)
    assert not len(batch.acting())
    np.testing.assert_array_equal(games.games(), batch.games)
    for seat in range(2):
        for found, expected in zip(games.standings(), standings(batch, np.arange(N), np.full(N, seat))):
            np.testing.assert_array_equal(found[:, seat], expected)


def test_cards_that_were_not_asked_for_are_refused():
    games = TensorGames(streams(0, 3), "cpu")
    with pytest.raises(ValueError, match="0 games were asked"):
        games.step(torch.zeros(3, dtype=torch.int64))
    legal = games.asked().gains.argmax(1)
    with pytest.raises(ValueError, match="3 games were asked"):
        games.step(legal[:2])
    before, illegal = games.games(), int((games.asked().gains[1] == -torch.inf).int().argmax())
    for card in (60, -1, illegal):
        with pytest.raises(ValueError, match=r"game 1: .* is not a legal action"):
            games.step(torch.where(torch.arange(3) == 1, card, legal))
    np.testing.assert_array_equal(games.games(), before)
    games.step(legal)
    with pytest.raises(OptionError, match="tpu"):
        TensorGames(streams(0, 3), "tpu")
