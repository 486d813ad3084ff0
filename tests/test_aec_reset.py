"""What a reset of the PettingZoo environment takes, and the games that follow it."""

from __future__ import annotations

import numpy as np
import pytest

import crib_env
from crib_env import parse_cards
from crib_env.aec import PLAYERS
from tests.helpers.aec_play import act_randomly, bits_of, ones, play_on


@pytest.mark.parametrize("scores", [(0, 120), [7, 3], np.array([60, 61])], ids=str)
def test_scores_are_set_for_one_episode(scores):
    env = crib_env.raw_env(start_spread=0)
    env.reset(seed=1, options={"scores": scores})
    assert env.scores == tuple(scores)  # what is asked for goes before the spread
    env.reset()
    assert env.scores[0] == env.scores[1]


def hands_dealt(env, n_deals, seed=0):
    """Both hands at the start of each of the first deals, by random play."""
    rng = np.random.default_rng(seed)
    hands = []
    while len(hands) < n_deals:
        both = [ones(bits_of(env, agent)[1:53]) for agent in PLAYERS]
        if len(both[0]) == len(both[1]) == 6:
            hands.append(both)
        act_randomly(env, rng)
    return hands


FIRST = "AC 2C 3C 4C 5C 6C 7D 8D 9D TD JD QD KH"
SECOND = "AH 2H 3H 4H 5H 6H 7S 8S 9S TS JS QS KC"


@pytest.mark.parametrize(
    "deals",
    [
        [FIRST, SECOND],
        (FIRST.split(), SECOND.lower().split()),
        [parse_cards(FIRST), parse_cards(SECOND)],
        np.array([parse_cards(FIRST), parse_cards(SECOND)]),
        iter([FIRST.replace("T", "10"), SECOND.replace(" ", ",")]),
    ],
    ids=["text", "lists of text", "ids", "array", "iterator"],
)
def test_deals_are_used_one_by_one_then_the_generator_goes_on(deals):
    env = crib_env.raw_env()
    env.reset(seed=3, options={"deals": deals})
    first, second, third = hands_dealt(env, 3)
    assert first == [set(parse_cards(FIRST)[:6]), set(parse_cards(FIRST)[6:12])]
    assert second == [set(parse_cards(SECOND)[:6]), set(parse_cards(SECOND)[6:12])]
    assert len(third[0] | third[1]) == 12
    assert third not in (first, second)
    for seed, is_same in ((3, True), (4, False)):
        env.reset(seed=seed, options={"deals": [FIRST, SECOND]})
        assert (hands_dealt(env, 3)[2] == third) == is_same


def test_given_deals_are_used_in_one_episode_only():
    env = crib_env.raw_env()
    env.reset(seed=1, options={"deals": [FIRST, SECOND]})
    env.reset()
    assert hands_dealt(env, 2)[0][0] not in (set(parse_cards(FIRST)[:6]), set(parse_cards(SECOND)[:6]))


def test_the_option_that_pettingzoos_own_test_gives_does_nothing():
    plain, other = crib_env.raw_env(), crib_env.raw_env()
    plain.reset(seed=1)
    other.reset(seed=1, options={"options": 1})
    assert list(play_on(plain)) == list(play_on(other))


def first_hands(env, seed, n_resets, play):
    """The hands of the first and of the following games, with ``play`` random decisions in each."""
    rng = np.random.default_rng(19)
    env.reset(seed=seed)
    hands = []
    for _ in range(n_resets):
        hands.append([ones(bits_of(env, agent)[1:53]) for agent in PLAYERS])
        for _ in range(play):
            act_randomly(env, rng)
        env.reset()
    return hands


def test_a_reset_without_a_seed_goes_on_to_the_next_game_of_the_seed():
    """Whatever happened in the game before."""
    games = first_hands(crib_env.raw_env(), 1, 5, play=0)
    assert all(games[k] != games[j] for k in range(5) for j in range(k))
    assert first_hands(crib_env.raw_env(), 1, 5, play=40) == games
    used = crib_env.env()
    used.reset(seed=77)
    assert first_hands(used, 1, 5, play=3) == games
    assert first_hands(used, 2, 5, play=3) != games


def test_two_environments_without_a_seed_differ():
    one, other = crib_env.raw_env(), crib_env.raw_env()
    one.reset()
    other.reset()
    assert bits_of(one, "player_0").tolist() != bits_of(other, "player_0").tolist()
