"""The course of an episode in the PettingZoo environment: what a reset takes, infos, rewards, ends."""

from __future__ import annotations

import numpy as np
import pytest

import crib_env
from crib_env import parse_cards
from crib_env.aec import PLAYERS
from tests.helpers.aec_play import (
    act_randomly,
    all_episodes,
    bits_of,
    is_over,
    ones,
    play_on,
    side_by_side,
)


@all_episodes
def test_infos_hold_scores_dealer_and_the_events_since_the_agent_last_acted(episode):
    events, scores_then, scores_before, longest = {}, {}, (), 0
    for env, game, mover in side_by_side(10, 60, episode=episode):
        if mover is None:
            events = {agent: [] for agent in PLAYERS}
            scores_then = dict.fromkeys(PLAYERS, tuple(game.scores))
        else:
            events[mover], scores_then[mover] = [], scores_before
            for agent in PLAYERS:
                events[agent] += game.events
        scores_before = tuple(game.scores)
        assert env.scores == scores_before
        assert env.dealer == game.dealer
        for agent in PLAYERS:
            info = env.infos[agent]
            assert info == {
                "scores": scores_before,
                "dealer": game.dealer,
                "illegal_action": False,
                "events": tuple(events[agent]),
            }
            for seat in (0, 1):
                made = sum(event.points for event in info["events"] if event.player == seat)
                assert made == game.scores[seat] - scores_then[agent][seat]
            longest = max(longest, len(events[agent]))
    assert longest >= 3


def test_infos_hold_numbers_only_unless_asked_for_events_and_the_game_is_the_same():
    with_events, without = crib_env.raw_env(events=True), crib_env.raw_env(mask="info")
    for env in (with_events, without):
        env.reset(seed=4)
    while not all(with_events.terminations.values()):
        for agent in PLAYERS:
            assert without.infos[agent].keys() == {"scores", "dealer", "illegal_action", "action_mask"}
            assert all(np.asarray(value).dtype.kind in "iub" for value in without.infos[agent].values())
        assert (without.scores, without.rewards) == (with_events.scores, with_events.rewards)
        card = int(without.infos[without.agent_selection]["action_mask"].argmax())
        with_events.step(card)
        without.step(card)


@all_episodes
def test_points_are_paid_when_they_are_scored_and_sum_to_zero(episode):
    paid, lead_before = 0, 0
    for env, game, mover in side_by_side(11, 60, episode=episode):
        lead = game.scores[0] - game.scores[1]
        if mover is not None:
            assert env.rewards == {"player_0": lead - lead_before, "player_1": lead_before - lead}
            assert all(type(reward) is float for reward in env.rewards.values())
            paid += lead != lead_before
        lead_before = lead
    assert paid > 100


@pytest.mark.parametrize("reward", ["points", "win", "match"])
@all_episodes
def test_last_returns_the_sum_of_rewards_since_the_agents_last_act_including_that_act(episode, reward):
    env = crib_env.env(episode=episode, reward=reward, start_spread=100)
    rng = np.random.default_rng(12)
    for seed in range(20):
        env.reset(seed=seed)
        lead_at_start = env.scores[0] - env.scores[1]
        account, received = dict.fromkeys(PLAYERS, 0.0), dict.fromkeys(PLAYERS, 0.0)
        for agent in env.agent_iter():
            _, cumulative, terminated, _, _ = env.last()
            assert cumulative == account[agent]
            received[agent] += cumulative
            account[agent] = 0.0
            if terminated:
                env.step(None)
                continue
            act_randomly(env, rng)
            for player in PLAYERS:
                account[player] += env.rewards[player]
        assert received["player_0"] == -received["player_1"]
        if reward == "points":
            assert received["player_0"] == env.scores[0] - env.scores[1] - lead_at_start


def winner_and_worth(scores, scores_at_start, match):
    """What seat 0 gets at the end."""
    made = scores if max(scores) == 121 else np.subtract(scores, scores_at_start).tolist()
    sign = (made[0] > made[1]) - (made[0] < made[1])
    skunk = max(scores) == 121 and min(scores) <= 90
    return sign * (1 if not match else 3 if skunk else 2)


@pytest.mark.parametrize("reward", ["win", "match"])
@all_episodes
def test_a_win_is_paid_at_the_end_and_nothing_before(episode, reward):
    env = crib_env.raw_env(episode=episode, reward=reward)
    rng = np.random.default_rng(13)
    paid = set()
    for seed in range(250):
        start = tuple(rng.integers(121, size=2).tolist())
        env.reset(seed=seed, options={"scores": start})
        while not is_over(env):
            assert env.rewards == {"player_0": 0.0, "player_1": 0.0}
            act_randomly(env, rng)
        worth = winner_and_worth(env.scores, start, reward == "match")
        assert env.rewards == env._cumulative_rewards == {"player_0": worth, "player_1": -worth}
        paid.add(worth)
    values = {1, -1} if reward == "win" else {2, -2, 3, -3}
    assert paid == values | (set() if episode == "game" else {0})


def test_a_game_ends_the_instant_a_player_reaches_121():
    for env, _, mover in side_by_side(14, 60):
        assert is_over(env) == (max(env.scores) == 121)
        assert env.terminations == dict.fromkeys(PLAYERS, is_over(env))
        assert env.truncations == dict.fromkeys(PLAYERS, False)
        assert all(type(ended) is bool for ended in (*env.terminations.values(), *env.truncations.values()))
        if is_over(env):
            assert mover is not None
            assert env.infos[mover]["events"]  # points ended it


@pytest.mark.parametrize(("episode", "n_decisions"), [("deal", 12), ("play", 8), ("pegging", 8)])
def test_a_deal_and_the_play_end_after_their_last_card(episode, n_decisions):
    env = crib_env.raw_env(episode=episode, events=True)
    rng = np.random.default_rng(15)
    for seed in range(30):
        env.reset(seed=seed)
        kinds = []
        for _ in range(n_decisions):
            assert not is_over(env)
            mover = env.agent_selection
            act_randomly(env, rng)
            kinds += [event.kind for event in env.infos[mover]["events"]]
        assert is_over(env)
        show = {"heels", "pone's hand", "dealer's hand", "crib"}
        if episode != "deal":
            assert not show & set(kinds)
            assert kinds[-1] in ("last card", "thirty-one", "pair", "three of a kind", "four of a kind", "run")
        else:
            assert kinds[-3:] == ["pone's hand", "dealer's hand", "crib"]


def test_both_players_leave_after_the_end():
    env = crib_env.env(episode="play")
    env.reset(seed=17)
    rng = np.random.default_rng(17)
    while not is_over(env):
        mover = env.agent_selection
        act_randomly(env, rng)
    (other,) = set(PLAYERS) - {mover}
    assert env.agent_selection == other
    env.step(None)
    assert env.agents == [mover] == [env.agent_selection]
    env.step(None)
    assert env.agents == []
    assert env.rewards == env.terminations == env.truncations == env.infos == {}
    assert env.possible_agents == list(PLAYERS)
    env.reset()
    assert env.agents == list(PLAYERS)


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
