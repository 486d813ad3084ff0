"""Vector environments beside Gymnasium's loop over single ones: plays both, and compares all their outputs."""

import copy

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from crib_env.single_agent import SingleAgentCribbage
from crib_env.vector.environments import CribbageVectorEnv

GAMES = ("crib_env/Cribbage-v0", "crib_env/CribbagePlay-v0", "crib_env/CribbagePegging-v0")
IDS = (*GAMES, "crib_env/CribbageDiscard-v0")
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]
INFOS = ("action_mask", "illegal_action", "scores", "dealer", "seat")


class FirstCard:
    """The simplest agent: the legal card with the lowest id."""

    name = "first card"

    def act(self, views):
        return views.action_mask.argmax(axis=1)


class FirstCards:
    """Decides one hand at a time: the first cards."""

    name = "first cards"

    def throw(self, view):
        return view.hand[:2]

    def lay(self, view):
        return view.legal[0]


class Cheat:
    """Lays a card that it may not lay."""

    name = "cheat"

    def act(self, views):
        return views.action_mask.argmin(axis=1)


def one_game_a_chunk(monkeypatch):
    """Lets threads share even a few games."""
    monkeypatch.setattr("crib_env.vector.environments.CHUNK", 1)


def some_cards(masks, rng):
    """A random legal card for each game, (N,), 0 where there is none."""
    return (masks * rng.random(masks.shape)).argmax(axis=1)


def assert_equal_observations(one, two):
    if isinstance(two, dict):
        assert set(one) == set(two)
        for key in two:
            assert one[key].dtype == two[key].dtype
            np.testing.assert_array_equal(one[key], two[key])
    else:
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)


def assert_equal_infos(native, sync, infos=INFOS):
    """The same keys and dtypes, and the same values where both have one."""
    assert {key for key in native if key in infos} == {key for key in sync if key in infos}
    for key in native.keys() & set(infos):
        assert native[key].dtype == sync[key].dtype
        np.testing.assert_array_equal(native[f"_{key}"], sync[f"_{key}"])
        who = sync[f"_{key}"]
        np.testing.assert_array_equal(native[key][who], sync[key][who])


def assert_equal_steps(native, sync, infos=INFOS):
    assert_equal_observations(native[0], sync[0])
    for one, two in zip(native[1:4], sync[1:4]):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
    assert_equal_infos(native[4], sync[4], infos)
    assert ("final_obs" in native[4]) == ("final_obs" in sync[4])
    if "final_obs" in sync[4]:
        np.testing.assert_array_equal(native[4]["_final_obs"], sync[4]["_final_obs"])
        np.testing.assert_array_equal(native[4]["_final_info"], sync[4]["_final_info"])
        for one, two in zip(native[4]["final_obs"], sync[4]["final_obs"]):
            assert (one is None) == (two is None)
            if two is not None:
                assert_equal_observations(one, two)
        assert_equal_infos(native[4]["final_info"], sync[4]["final_info"], infos)


def both(n, mode, **options):
    """The native environment and Gymnasium's loop over single ones."""
    sync = SyncVectorEnv([lambda: SingleAgentCribbage(**options)] * n, autoreset_mode=mode)
    return CribbageVectorEnv(n, autoreset_mode=mode, **options), sync


def compare(native, sync, *, steps, seed, options=None, share_of_any_card=0.0, infos=INFOS):
    """Plays the same random cards in both, legal ones or any; returns how many episodes ended."""
    rng = np.random.default_rng(seed)
    one, two = (env.reset(seed=seed, options=copy.copy(options)) for env in (native, sync))
    assert_equal_observations(one[0], two[0])
    assert_equal_infos(one[1], two[1], infos)
    masks, n_ended = one[1]["action_mask"], 0
    for _ in range(steps):
        is_any = rng.random(native.num_envs) < share_of_any_card
        cards = np.where(is_any, rng.integers(-5, 60, native.num_envs), some_cards(masks, rng))
        one, two = native.step(cards), sync.step(cards)
        assert_equal_steps(one, two, infos)
        masks = one[4]["action_mask"].copy()
        n_ended += (one[2] | one[3]).sum()
    return n_ended
