"""Options of a reset of the PettingZoo environment, actions of every integer kind, and copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import crib_env
from crib_env import parse_card, parse_cards
from crib_env.aec import PLAYERS
from tests.helpers.aec_play import (
    act_randomly,
    bits_of,
    both_environments,
    is_over,
    mask_of,
    ones,
    play_on,
    seen_by_all,
)
from tests.helpers.refusals import refused

# ------------------------------------------------------------------------------------------------------------- reset


def test_first_dealer_is_a_coin_or_as_given():
    env = crib_env.raw_env()
    coin = []
    for seed in range(60):
        env.reset(seed=seed)
        coin.append(env.dealer)
    assert 15 < sum(coin) < 45
    for first_dealer in (0, 1, np.int64(1)):
        for seed in range(5):
            env.reset(seed=seed, options={"first_dealer": first_dealer})
            assert env.dealer == first_dealer


@pytest.mark.parametrize("scores", [(0, 120), [7, 3], np.array([60, 61])], ids=str)
def test_scores_are_set_for_one_episode(scores):
    env = crib_env.raw_env()
    env.reset(seed=1, options={"scores": scores})
    assert env.scores == tuple(scores)
    env.reset()
    assert env.scores == (0, 0)


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


def test_the_starter_is_the_thirteenth_card():
    env = crib_env.raw_env(observation="board")
    env.reset(options={"deals": [FIRST]})
    rng = np.random.default_rng(0)
    for _ in range(4):
        assert not any(bits_of(env, agent)[600:652].any() for agent in PLAYERS)
        act_randomly(env, rng)
    assert all(ones(bits_of(env, agent)[600:652]) == {parse_card("KH")} for agent in PLAYERS)


def test_given_deals_are_used_in_one_episode_only():
    env = crib_env.raw_env()
    env.reset(seed=1, options={"deals": [FIRST, SECOND]})
    env.reset()
    assert hands_dealt(env, 2)[0][0] not in (set(parse_cards(FIRST)[:6]), set(parse_cards(SECOND)[:6]))


@both_environments
def test_the_option_that_pettingzoos_own_test_gives_does_nothing(make):
    plain, other = make(), make()
    plain.reset(seed=1)
    other.reset(seed=1, options={"options": 1})
    assert list(play_on(plain)) == list(play_on(other))


@pytest.mark.parametrize("spread", [0, 10, 60, 120])
def test_start_spread_draws_scores_that_lie_close_together(spread):
    env = crib_env.raw_env(start_spread=spread)
    env.reset(seed=18)
    starts = []
    for _ in range(400):
        starts.append(env.scores)
        env.reset()
    assert all(0 <= score <= 120 for scores in starts for score in scores)
    apart = [one - other for one, other in starts]
    assert max(abs(difference) for difference in apart) in range(int(0.9 * spread), spread + 1)
    assert min(apart) <= 0 <= max(apart)
    assert {sum(scores) // 80 for scores in starts} >= {0, 1, 2}  # low, middle and high ones
    env.reset(options={"scores": (0, 120)})
    assert env.scores == (0, 120)  # what is asked for goes first


def test_games_start_at_zero_without_start_spread():
    env = crib_env.raw_env()
    env.reset(seed=1)
    assert env.scores == (0, 0)


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


# ----------------------------------------------------------------------------------------------------------- actions


@pytest.mark.parametrize(
    "as_integer",
    [int, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, np.array, lambda card: np.array(card, np.int8)],
    ids=["int", "int8", "uint8", "int16", "int32", "int64", "uint64", "0-d array", "0-d int8 array"],
)
@both_environments
def test_every_kind_of_integer_is_an_action(make, as_integer):
    env, twin = make(), make()
    for one in (env, twin):
        one.reset(seed=20)
    for _ in range(30):
        card = int(np.flatnonzero(mask_of(twin, twin.agent_selection))[-1])
        twin.step(card)
        assert env.step(as_integer(card)) is None
        assert env.games.tobytes() == twin.games.tobytes()
    assert not is_over(env)


# ---------------------------------------------------------------------------------- copies and several environments


def by_pickle(env):
    return pickle.loads(pickle.dumps(env))


def by_newest_pickle(env):
    """Protocol 5 hands arrays over in another way."""
    return pickle.loads(pickle.dumps(env, pickle.HIGHEST_PROTOCOL))


each_way_of_copying = pytest.mark.parametrize("copied", [by_pickle, by_newest_pickle, copy.deepcopy])


@each_way_of_copying
@pytest.mark.parametrize("options", [{}, {"mask": "info", "observation": "board", "reward": "win"}], ids=str)
@pytest.mark.parametrize("n_decisions", [0, 1, 3, 4, 7, 11, 12, 40])
@both_environments
def test_a_copy_continues_the_same_game_independently(make, options, copied, n_decisions):
    env = make(**options)
    env.reset(seed=21, options={"deals": [FIRST, SECOND], "first_dealer": 0})
    rng = np.random.default_rng(21)
    for _ in range(n_decisions):
        act_randomly(env, rng)
    twin = copied(env)
    assert type(twin) is type(env)
    assert seen_by_all(twin) == seen_by_all(env)
    future_of_twin = list(play_on(twin))
    assert list(play_on(env)) == future_of_twin
    assert len(future_of_twin) > 50


@each_way_of_copying
@pytest.mark.parametrize("n_left", [0, 1, 2])
def test_a_copy_of_an_episode_that_is_over_is_over(copied, n_left):
    env = crib_env.env(episode="play")
    env.reset(seed=22)
    rng = np.random.default_rng(22)
    while not is_over(env):
        act_randomly(env, rng)
    for _ in range(n_left):
        env.step(None)
    twin = copied(env)
    assert twin.agents == env.agents
    assert seen_by_all(twin) == seen_by_all(env)
    for one in (env, twin):
        one.reset()
    assert list(play_on(twin)) == list(play_on(env))


@each_way_of_copying
@both_environments
def test_a_copy_can_be_made_before_the_first_reset(make, copied):
    env = make(start_spread=60)
    twin = copied(env)
    with refused("reset()", error=AttributeError):
        twin.last()
    for one in (env, twin):
        one.reset()  # the same fresh seed
    assert list(play_on(twin)) == list(play_on(env))


def test_several_environments_are_independent():
    kinds = [{}, {"episode": "deal", "observation": "board"}, {"mask": "info", "start_spread": 60}]

    def begun():
        for seed, options in enumerate(kinds):
            env = crib_env.env(**options)
            env.reset(seed=seed, options={"deals": [SECOND] * seed})
            yield play_on(env, seed)

    alone = [list(future) for future in begun()]
    in_turn = [[] for _ in kinds]
    running = dict(enumerate(begun()))
    while running:
        for k, future in list(running.items()):
            seen = next(future, None)
            if seen is None:
                del running[k]
            else:
                in_turn[k].append(seen)
    assert in_turn == alone
