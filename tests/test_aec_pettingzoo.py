"""PettingZoo's own tests, over every combination of options that changes what users see."""

from __future__ import annotations

import functools
import itertools
import warnings

import pytest
from pettingzoo.test import api_test, render_test, seed_test

import crib_env
from crib_env.picture import drawing

OPTIONS = [
    {"episode": episode, "reward": reward, "observation": observation, "mask": mask}
    for episode, reward, observation, mask in itertools.product(
        ("game", "deal", "play", "pegging"), ("points", "win", "match"), ("209", "board"), ("observation", "info")
    )
]

# PettingZoo exempts its own environments from these by name. A Dict that holds the mask is what it recommends itself,
# and the mask of a player who is not to act is empty on purpose: a mask filled for the wrong player leaks a hand.
WARNINGS_ABOUT_A_DICT = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Action mask numpy array is all zeros (no legal actions).",
}


def name(options):
    return "-".join(options.values())


def warned_by(test, *args, **kwargs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        test(*args, **kwargs)
    return {str(warning.message) for warning in caught}


@pytest.mark.parametrize("options", OPTIONS, ids=name)
def test_api(options):
    allowed = WARNINGS_ABOUT_A_DICT if options["mask"] == "observation" else set()
    assert warned_by(api_test, crib_env.env(**options), num_cycles=100) <= allowed


@pytest.mark.parametrize("mask", ["observation", "info"])
def test_api_with_boolean_masks(mask):
    allowed = WARNINGS_ABOUT_A_DICT if mask == "observation" else set()
    assert warned_by(api_test, crib_env.raw_env(mask=mask, dtype="float32"), num_cycles=100) <= allowed


@pytest.mark.parametrize("options", OPTIONS, ids=name)
def test_seed(options):
    assert not warned_by(seed_test, functools.partial(crib_env.env, **options), num_cycles=30)


@pytest.mark.parametrize("options", OPTIONS[::7], ids=name)
def test_render(options, monkeypatch):
    monkeypatch.setattr(drawing, "FPS", 1_000)
    # With the mask in the info this test draws illegal actions: they end the game, and there is a table to show still.
    assert not warned_by(render_test, functools.partial(crib_env.env, **options))
