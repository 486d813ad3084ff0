"""Recorded games that must come out the same for ever: same seed, same options, same actions, same game.

A file in ``tests/golden`` holds the options, the seed and one line for each step: who acted, the card, the scores after
it, the points that fell ([seat, points, kind]) and what player_0 was paid. When behaviour is meant to change (which
also means a new version of the environment), write them anew and read the difference before committing it::

    python -m tests.test_golden_games
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from crib_env import format_card, parse_card, parse_cards
from crib_env.aec import raw_env

FOLDER = Path(__file__).parent / "golden"
# name: (options of the environment, seed, options of the reset)
CASES = {
    "game": ({}, 1, {}),
    "game_for_match_points": ({"reward": "match"}, 2, {}),
    "game_from_random_scores": ({"reward": "win", "start_spread": 60}, 3, {}),
    "game_from_given_deals": (
        {},
        4,
        {
            "first_dealer": 0,
            "scores": [91, 60],
            "deals": [
                parse_cards("5C 5H 5S JD TC KH 4C 6C 4D 6D QS 2C 5D"),
                parse_cards("2H 4C 8H TH 2C 4D 2S 4S 8S TC 8D 6D JD"),
            ],
        },
    ),
    "deal": ({"episode": "deal"}, 5, {}),
    "deal_with_heels": (
        {"episode": "deal", "reward": "win"},
        6,
        {"first_dealer": 1, "deals": [parse_cards("7C 7H 8S 9D TC KH AC 2C 3D 6D QS 2D JC")]},
    ),
    "play": ({"episode": "play"}, 7, {}),
    "play_near_the_end": ({"episode": "play"}, 8, {"scores": [120, 119]}),
    "pegging": ({"episode": "pegging"}, 9, {}),
    "pegging_of_given_cards": (
        {"episode": "pegging", "reward": "win"},
        10,
        {"first_dealer": 0, "scores": [100, 114], "deals": [parse_cards("5C 5D 4S JH 5H 6C 4D KS")]},
    ),
}


def begin(record):
    env = raw_env(**record["options"], events=True)
    env.reset(seed=record["seed"], options=record["reset"])
    return env


def step(env, card):
    """One line of a recording."""
    agent = env.agent_selection
    env.step(parse_card(card))
    return [
        agent,
        card,
        [int(score) for score in env.scores],
        [list(event) for event in env.infos[agent]["events"]],
        int(env.rewards["player_0"]),
    ]


def record(name):
    """Plays a game with random cards."""
    options, seed, reset = CASES[name]
    recording = {"options": options, "seed": seed, "reset": reset, "steps": []}
    env, dice = begin(recording), random.Random(seed)
    while not any(env.terminations.values()):
        legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
        recording["steps"].append(step(env, format_card(dice.choice(legal))))
    return recording


def replay(recording):
    """The steps that the recorded cards lead to now."""
    env = begin(recording)
    return [step(env, card) for _, card, *_ in recording["steps"]], env


def write(name):
    recording = record(name)
    steps = ",\n".join(json.dumps(line) for line in recording.pop("steps"))
    head = json.dumps(recording)[:-1]
    (FOLDER / f"{name}.json").write_text(f'{head}, "steps": [\n{steps}\n]}}\n')


def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_a_recorded_game_comes_out_the_same(name):
    recording = read(name)
    steps, env = replay(recording)
    assert steps == recording["steps"]
    assert all(env.terminations.values())


def test_every_case_is_recorded_as_it_stands_here():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(CASES)
    for name, (options, seed, reset) in CASES.items():
        recording = read(name)
        assert (recording["options"], recording["seed"], recording["reset"]) == (options, seed, reset)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for case in CASES:
        write(case)
        print(f"wrote {FOLDER / case}.json")
