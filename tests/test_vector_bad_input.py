"""The native vector environment: bad actions, options and resets are named, and change nothing."""

import gc

import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError

from crib_env.options import OptionError
from crib_env.vector.environments import CribbageVectorEnv
from tests.helpers.refusals import refused
from tests.helpers.vector_games import MODES, Cheat, assert_equal_steps

NO_CARD = {
    "illegal": lambda cards, masks: np.where(np.arange(5) == 2, masks.argmin(axis=1), cards),
    "below the range": lambda cards, _: np.where(np.arange(5) == 2, -1, cards),
    "above the range": lambda cards, _: np.where(np.arange(5) == 2, 52, cards),
    "huge": lambda cards, _: np.where(np.arange(5) == 2, 2**63 - 1, cards),
    "huge unsigned": lambda cards, _: np.where(np.arange(5) == 2, 2**64 - 1, cards.astype(np.uint64)),
    "beyond every dtype": lambda cards, _: [10**30 if i == 2 else int(c) for i, c in enumerate(cards)],
}
NO_INTEGER = {
    "a bool": lambda cards, _: [bool(c) if i == 2 else int(c) for i, c in enumerate(cards)],
    "a float": lambda cards, _: [float(c) if i == 2 else int(c) for i, c in enumerate(cards)],
    "nothing": lambda cards, _: [None if i == 2 else int(c) for i, c in enumerate(cards)],
    "a list": lambda cards, _: [[int(c)] if i == 2 else int(c) for i, c in enumerate(cards)],
    "text": lambda cards, _: [str(c) if i == 2 else int(c) for i, c in enumerate(cards)],
}


def begun_games(mode, **options):
    envs = CribbageVectorEnv(5, opponent="greedy", autoreset_mode=mode, **options)
    _, infos = envs.reset(seed=9)
    for _ in range(3):
        infos = envs.step(infos["action_mask"].argmax(axis=1))[4]
    return envs, infos["action_mask"].copy()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*NO_CARD, *NO_INTEGER])
def test_the_error_for_an_action_names_the_game_and_changes_nothing(name, mode):
    envs, masks = begun_games(mode, illegal="raise" if name in NO_CARD else "end")
    before = [array.tobytes() for array in envs._table]
    cards = masks.argmax(axis=1)
    with refused("game 2: ", error=ValueError if name in NO_CARD else TypeError):
        envs.step((NO_CARD | NO_INTEGER)[name](cards, masks))
    assert [array.tobytes() for array in envs._table] == before
    envs.step(cards)


@pytest.mark.parametrize("name", NO_CARD)
def test_an_illegal_card_ends_its_own_game_only(name):
    (one, masks), (two, _) = begun_games("NextStep"), begun_games("NextStep")
    cards = masks.argmax(axis=1)
    seen, rewards, over, _, infos = one.step(NO_CARD[name](cards, masks))
    expected = two.step(cards)
    others = np.arange(5) != 2
    assert rewards[2] == -121
    np.testing.assert_array_equal(over, ~others)
    np.testing.assert_array_equal(infos["illegal_action"], ~others)
    np.testing.assert_array_equal(seen["observation"][others], expected[0]["observation"][others])
    np.testing.assert_array_equal(rewards[others], expected[1][others])


@pytest.mark.parametrize("form", [list, tuple, lambda cards: cards[:, None], lambda cards: list(cards[:, None])])
def test_cards_in_other_forms(form):
    (one, masks), (two, _) = begun_games("NextStep"), begun_games("NextStep")
    cards = masks.argmax(axis=1)
    assert_equal_steps(one.step(form(cards)), two.step(cards))


@pytest.mark.parametrize("cards", [np.zeros(4, int), 3, np.array(3), None, [], [0] * 6, "23456"])
def test_actions_of_a_wrong_shape(cards):
    envs = CribbageVectorEnv(5)
    envs.reset(seed=9)
    before = envs._table.games.tobytes()
    with pytest.raises(ValueError, match="5 integers, one a game"):
        envs.step(cards)
    assert envs._table.games.tobytes() == before


def test_games_that_have_not_begun_refuse_a_card():
    envs = CribbageVectorEnv(2, episode="play")
    for call in (lambda: envs.step([0, 0]), envs.action_masks):
        with pytest.raises(RuntimeError, match="call it first"):
            call()


def test_nothing_steps_on_after_close():
    envs = CribbageVectorEnv(2)
    _, infos = envs.reset(seed=0)
    envs.close()
    before = envs.games.tobytes()
    for call in (lambda: envs.step(infos["action_mask"].argmax(axis=1)), envs.reset):
        with refused("after close()", error=ClosedEnvironmentError):
            call()
    assert envs.games.tobytes() == before


def test_an_opponents_illegal_card_is_named():
    with refused("opponent 'cheat' in game"):
        CribbageVectorEnv(3, opponent=Cheat(), seat=0).reset(seed=0, options={"first_dealer": 0})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("num_envs", 0),
        ("num_envs", 2.0),
        ("threads", 0),
        ("threads", True),
        ("autoreset_mode", "never"),
        ("autoreset_mode", "Disabled"),
        ("opponent", "nobody"),
        ("seat", 2),
        ("episode", "round"),
        ("render_mode", "ansi"),
        ("events", True),
        ("copy", 1),
        ("illegal", "ignore"),
    ],
)
@pytest.mark.filterwarnings("error")  # among others, of a destructor that fails
def test_bad_options_are_named(option, value):
    with refused(f"{option}=", error=OptionError):
        CribbageVectorEnv(**{"num_envs": 2, option: value})
    gc.collect(1)  # what was just made; all that there is would take a second


def test_bad_resets_change_nothing():
    envs = CribbageVectorEnv(3)
    envs.reset(seed=0)
    before = [array.tobytes() for array in envs._table]
    for seed in (-1, 1.5, [1, 2], [1, 2, -3], np.array(5), np.array(None)):
        with refused("seed"):
            envs.reset(seed=seed)
    for options in ({"scores": (1, 200)}, {"deals": []}, {"reset_mask": np.ones(3, bool)}):
        with refused(next(iter(options))):
            envs.reset(seed=1, options=options)
    assert [array.tobytes() for array in envs._table] == before
