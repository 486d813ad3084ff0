"""The native vector environment of the discard game."""

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

import crib_env  # noqa: F401 -- registers the ids
from crib_env.discard_game import DiscardGame
from crib_env.vector.environments import DiscardVectorEnv
from tests.helpers.refusals import refused
from tests.helpers.vector_games import MODES, compare, one_game_a_chunk


@pytest.mark.parametrize(("mask", "dtype"), [("observation", "int8"), ("info", "int8"), ("observation", "float32")])
@pytest.mark.parametrize("mode", MODES)
def test_discard_games_are_those_of_single_environments(mode, mask, dtype, monkeypatch):
    one_game_a_chunk(monkeypatch)
    sync = SyncVectorEnv([lambda: DiscardGame(mask=mask, dtype=dtype)] * 5, autoreset_mode=mode)
    native = DiscardVectorEnv(5, mask=mask, dtype=dtype, autoreset_mode=mode, threads=2)
    assert compare(native, sync, steps=20, seed=12) >= 30
    native.close()


@pytest.mark.parametrize("mode", MODES)
def test_an_illegal_discard_ends_its_game_as_in_the_single_environment(mode):
    native = DiscardVectorEnv(5, autoreset_mode=mode)
    sync = SyncVectorEnv([lambda: DiscardGame()] * 5, autoreset_mode=mode)
    assert compare(native, sync, steps=20, seed=12, share_of_any_card=0.3) >= 30


def test_with_illegal_raise_an_illegal_discard_changes_nothing():
    envs = DiscardVectorEnv(3, illegal="raise")
    _, infos = envs.reset(seed=0)
    before = envs._games.tobytes()
    with refused("game 1: "):
        envs.step(np.where(np.arange(3) == 1, infos["action_mask"].argmin(axis=1), infos["action_mask"].argmax(axis=1)))
    assert envs._games.tobytes() == before


@pytest.mark.parametrize("make", [DiscardGame, lambda: DiscardVectorEnv(2)], ids=["single", "vector"])
def test_options_of_a_reset_that_mean_nothing_here_are_refused(make):
    env = make()
    env.reset(seed=1, options={})
    with refused("'scores'"):
        env.reset(options={"scores": (1, 2)})
