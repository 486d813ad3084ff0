"""Copies of an environment, states taken back, hidden cards dealt again: what searches and critics are built on."""

import copy
import pickle
import time

import numpy as np
import pytest

import crib_env
from crib_env.aec import PLAYERS
from crib_env.engine import EPISODES, GAME, OVER
from crib_env.players.hidden import deal_hidden
from tests.helpers.aec_play import act_randomly, is_over, play_on, seen_by_all
from tests.helpers.hidden_cards import cards_of
from tests.helpers.refusals import refused

each_episode = pytest.mark.parametrize("episode", EPISODES)


def moments(n_games=6, seed=0, **options):
    """An environment at every decision of some games of random play."""
    env = crib_env.raw_env(observation="board", **options)
    for game in range(n_games):
        env.reset(seed=seed + game)
        rng = np.random.default_rng(game)
        while not is_over(env):
            yield env
            act_randomly(env, rng)


def course(env, n=80):
    """What the next decisions bring, by the lowest legal card."""
    seen = []
    while (legal := env.legal_actions()) and len(seen) < n:
        env.step(legal[0])
        seen.append((env.agent_selection, env.scores, env.rewards, env.cumulative_rewards.copy(), env.games.tobytes()))
    return seen


def by_pickle(env):
    return pickle.loads(pickle.dumps(env))


def by_newest_pickle(env):
    """Protocol 5 hands arrays over in another way."""
    return pickle.loads(pickle.dumps(env, pickle.HIGHEST_PROTOCOL))


@pytest.mark.parametrize("copied", [by_pickle, by_newest_pickle, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("options", [{"events": True}, {"mask": "info", "observation": "board", "reward": "win"}])
@pytest.mark.parametrize("n_decisions", [0, 3, 4, 12, 40, 1_000])
def test_a_copy_continues_the_same_game_independently(options, copied, n_decisions):
    env = crib_env.env(**options)
    env.reset(seed=21, options={"deals": ["5H 5C 5S JD 2C 3C AD 2D 3D 4D 6D 7D 8S"] * 2, "first_dealer": 0})
    rng = np.random.default_rng(21)
    while n_decisions and not is_over(env):
        act_randomly(env, rng)
        n_decisions -= 1
    twin, before = copied(env), copy.deepcopy(env.infos)
    assert type(twin) is type(env)
    assert seen_by_all(twin) == seen_by_all(env)
    future_of_twin = list(play_on(twin))
    twin.infos.clear()
    np.testing.assert_equal(env.infos, before)
    assert list(play_on(env)) == future_of_twin
    assert len(future_of_twin) > 50


@pytest.mark.parametrize("copied", [by_pickle, copy.copy, copy.deepcopy])
def test_a_copy_can_be_made_before_the_first_reset(copied):
    env = crib_env.env(start_spread=60)
    twin = copied(env)
    with refused("reset()", error=AttributeError):
        twin.last()
    for one in (env, twin):
        one.reset()  # the same fresh seed
    assert list(play_on(twin)) == list(play_on(env))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_takes_microseconds(copied):
    """It took milliseconds, because kernels were serialised with it. The best of many: the machine may be busy."""
    env = crib_env.raw_env()
    env.reset(seed=1)
    times = []
    for _ in range(300):
        began = time.thread_time_ns()
        copied(env)
        times.append(time.thread_time_ns() - began)
    assert min(times) < 150_000


def test_what_a_subclass_adds_is_copied_too():
    env = crib_env.raw_env()
    env.notes = [1]
    twin = copy.deepcopy(env)
    twin.notes.append(2)
    assert env.notes == [1]


def test_a_copy_opens_no_window():
    env = crib_env.raw_env(render_mode="human")
    assert copy.copy(env).render_mode is None


@each_episode
def test_a_restored_state_goes_on_as_it_did(episode):
    other = crib_env.raw_env(episode=episode)
    for env in moments(2, episode=episode):
        other.restore(env.games)
        assert (other.agent_selection, other.scores, other.dealer) == (env.agent_selection, env.scores, env.dealer)
        assert other.legal_actions() == env.legal_actions()
        assert other.cumulative_rewards == dict.fromkeys(PLAYERS, 0.0)
        ahead = [step[-1] for step in course(copy.copy(env), 20)]
        assert [step[-1] for step in course(other, 20)] == ahead
    other.restore(env.games)
    assert is_over(other)
    assert other.legal_actions() == []


def test_what_is_no_game_of_this_kind_is_not_restored():
    env, deal = crib_env.raw_env(), crib_env.raw_env(episode="deal")
    env.reset(seed=1)
    deal.reset(seed=1)
    before = env.games.tobytes()
    for bad in (env.games.tobytes(), env.games[0], np.zeros(1, GAME), np.zeros(2, GAME), None):
        with refused("a game that has begun"):
            env.restore(bad)
    with refused("episode='deal'"):
        env.restore(deal.games)
    assert env.games.tobytes() == before


@each_episode
@pytest.mark.parametrize("waits", [False, True])
def test_cards_dealt_again_depend_on_what_the_player_sees_alone(episode, waits):
    """Two games that look the same to a player become one, whatever was hidden, and still look the same."""
    n_changed, n = 0, 0
    for env in moments(4, episode=episode):
        agent = PLAYERS[(env.agent_selection == PLAYERS[1]) ^ waits]
        seat, other = PLAYERS.index(agent), PLAYERS[PLAYERS.index(agent) ^ 1]
        seen, theirs, selected = env.observe(agent), env.observe(other)["observation"], env.agent_selection
        one, two = copy.copy(env), copy.copy(env)
        deal_hidden(two.games[0], seat, True, n)
        two.games["policy_stream"] = n
        for twin in (one, two):
            twin.redeal(agent, 7 + n)
            np.testing.assert_equal(twin.observe(agent), seen)
            assert twin.agent_selection == selected
        assert one.games.tobytes() == two.games.tobytes()
        assert one.legal_actions() == list(np.flatnonzero(one.observe(selected)["action_mask"]))
        dealt = [card for card in one.games["cards"][0].tolist() if card >= 0]
        assert len(set(dealt)) == len(dealt)
        held = one.games["hand"][0, 1 - seat] | one.games["discards"][0, 1 - seat]
        assert set(cards_of(held)) <= set(dealt)
        n_changed += (one.observe(other)["observation"] != theirs).any()
        n += 1
        if waits:  # the play goes on: the opponent can lay a card
            assert one.legal_actions()
    assert n_changed > 0.5 * n


def test_deals_that_were_given_are_hidden_too():
    deals = ["AC 2C 3C 4C 5C 6C 7D 8D 9D TD JD QD KD", "AH 2H 3H 4H 5H 6H 7S 8S 9S TS JS QS KS"]
    env = crib_env.raw_env()
    env.reset(seed=3, options={"deals": deals})
    twin = copy.copy(env)
    twin.redeal("player_0", 1)
    while twin.games["n_deals"][0] == 1:
        twin.step(twin.legal_actions()[0])
    assert sorted(twin.games["cards"][0].tolist()) != sorted(crib_env.parse_cards(deals[1]))


def test_a_go_is_heeded_by_who_acts_and_by_who_waits():
    """Pone leads a ten, dealer a ten, pone a nine (29): dealer says go, and holds no ace and no two."""
    env = crib_env.raw_env(episode="play")
    cards = crib_env.parse_cards("TC 9C 8C 7D 2D 3D TH JH QH KH 4D 5D 6S")
    env.reset(options={"first_dealer": 1, "deals": [cards]})
    for card in ("TC", "TH", "9C"):
        env.step(crib_env.parse_card(card))
    for agent, lacks in (("player_0", {0, 1}), ("player_1", {0, 1})):  # neither could go on
        found = set()
        for seed in range(200):
            twin = copy.copy(env)
            twin.redeal(agent, seed)
            found |= {card % 13 for card in cards_of(twin.games["hand"][0, 1 - PLAYERS.index(agent)])}
        assert found == set(range(13)) - lacks


def test_all_cards_that_agree_are_equally_likely():
    env = crib_env.raw_env()
    env.reset(seed=5)
    own = set(env.legal_actions())
    counts, n, twin = np.zeros((2, 52)), 4_600, copy.copy(env)
    for seed in range(n):
        twin.redeal(env.agent_selection, seed)
        game, other = twin.games[0], 1 - int(env.games["turn"][0])
        counts[0, cards_of(game["hand"][other])] += 1
        counts[1, game["cards"][12]] += 1
    unseen = [card for card in range(52) if card not in own]
    for row, each in ((0, n * 6 / 46), (1, n / 46)):
        assert not counts[row, list(own)].any()
        assert ((counts[row, unseen] - each) ** 2 / each).sum() < 46 + 5 * 92**0.5


def test_what_cannot_be_dealt_again_is_refused():
    env = crib_env.raw_env(episode="play")
    with refused("reset()", error=AttributeError):
        env.redeal("player_0", 1)
    env.reset(seed=1)
    for seed in (None, -1, 2**63, 0.5, True):
        with refused("a whole number from 0 to 2**63 - 1"):
            env.redeal("player_0", seed)
    with refused("player_2"):
        env.redeal("player_2", 1)
    course(env)
    with refused("the episode is over", error=RuntimeError):
        env.redeal("player_0", 1)


@each_episode
def test_legal_actions_are_those_of_the_mask(episode):
    for env in moments(3, episode=episode):
        assert env.legal_actions() == np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()
    assert env.legal_actions() == []
    assert env.games["phase"][0] == OVER
    with refused("reset()", error=AttributeError):
        crib_env.raw_env().legal_actions()
