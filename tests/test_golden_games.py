"""Recorded games that must come out the same for ever: same seed, same options, same actions, same game.

A file in ``tests/golden`` holds the options, the seed and one line for each step: who acted, the card, the scores after
it, the points that fell ([seat, points, kind]) and what player_0 was paid. When behaviour is meant to change (which
also means a new version of the environment), write them anew and read the difference before committing it::

    python -m tests.test_golden_games
"""

from __future__ import annotations

import pytest

from tests.helpers.golden_games import CASES, FOLDER, read, replay, write


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
