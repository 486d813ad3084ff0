"""Settings of all learners: every number has a range, and a value outside it is refused before training begins."""

import math
from dataclasses import replace

import pytest

from crib_env.train.registry import LEARNERS, learner_named, presets_of
from crib_env.values import Range
from tests.helpers.command_lines import bad_numbers, numbers_of
from tests.helpers.refusals import refused

PLAY = {"episode": "play", "opponent": "random", "rewards": "points"}


def default_of(learner):
    return presets_of(learner_named(learner))["default"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_number_has_a_range_and_is_refused_outside_of_it(learner):
    settings = default_of(learner)
    checked = 0
    for number in numbers_of(type(settings)):
        for bad in (*bad_numbers(number), -(10**9), math.nan, math.inf, "3", True):
            value = (bad,) if isinstance(getattr(settings, number.option), tuple) else bad
            with refused(f"{number.option}="):
                replace(settings, **{number.option: value})
            checked += 1
    assert checked > 50


@pytest.mark.parametrize(
    ("learner", "changes", "message"),
    [
        ("ddqn", {"final_games": 7}, "final_games=7 is not allowed: give an even number of at least 2"),
        ("ppo", {"hidden": (64, -1)}, "hidden=-1 is not allowed: give 1 to 16,384"),
        ("best", {"learning_rate": -1e-3}, "learning_rate=-0.001 is not allowed: give at least 0"),
        ("discard-game", {"batch_size": 2.5}, "batch_size=2.5 is not allowed: give a whole number"),
        ("drqn", {"observation": "210"}, "observation='210' is not allowed: choose one of '209', 'board', 'ranks'"),
        ("drqn", {"direct": "no"}, "direct='no' is not allowed: give True or False"),
        ("td", {"hidden": 64}, "hidden=64 is not allowed: give a list"),
        ("best", {"simple_players": 1.0}, "simple_players=1.0 is not allowed: give 0 to 0.99"),
        *((learner, {"opponent": "nobody"}, "there is no agent 'nobody'") for learner in ("ddqn", "drqn")),
        ("ddqn", PLAY | {"networks": "split"}, "networks='split' is not allowed with episode='play'"),
        ("drqn", {"burn_in": 7}, "burn_in=7 is not allowed: give 0 to length=6"),
        ("drqn", {"episode": "game"}, "rewards='settled' is not allowed with episode='game'"),
        ("drqn", {"episode": "play"}, "rewards='settled' is not allowed with episode='play'"),
        ("ppo", {"batch_size": 500}, "batch_size=500 is not allowed: it must divide"),
        ("td", {"updates": "traces"}, "hidden=(256, 256) is not allowed with updates='traces': give one width"),
        ("td", {"td_lambda": 0.5}, "td_lambda=0.5 is not allowed with updates='returns': give 0"),
        ("td", {"updates": "traces", "hidden": (4,)}, "epsilon=0.25 is not allowed with updates='traces': give 0"),
        (
            "discard-game",
            {"values": "sampled"},
            "hidden=(256, 256) is not allowed with values='sampled': give one width",
        ),
    ],
)
def test_the_refusal_names_the_setting_and_what_is_allowed(learner, changes, message):
    with refused(message):
        replace(default_of(learner), **changes)


def test_a_range():
    assert [n for n in range(-1, 4) if n in Range(0, 2)] == [0, 1, 2]
    assert [n for n in range(-1, 4) if n in Range(0, 2, above=True)] == [1, 2]
    assert [n for n in range(-1, 6) if n in Range(2, even=True)] == [2, 4]
