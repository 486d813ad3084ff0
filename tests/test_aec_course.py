"""The course of an episode in the PettingZoo environment: order of actions, infos, rewards, ends."""

from __future__ import annotations

import numpy as np
import pytest

import crib_env
from crib_env import parse_card, parse_cards
from crib_env.aec import PLAYERS, Event
from tests.helpers.aec_play import (
    act_randomly,
    all_episodes,
    bits_of,
    both_environments,
    is_over,
    lay,
    mask_of,
    ones,
    play_of,
    side_by_side,
)

# -------------------------------------------------------------------------------------------------- order of actions


@pytest.mark.parametrize("first_dealer", [0, 1])
def test_pone_discards_both_then_the_dealer_both_then_pone_leads(first_dealer):
    env = crib_env.raw_env()
    env.reset(seed=6, options={"first_dealer": first_dealer})
    pone, dealer = PLAYERS[1 - first_dealer], PLAYERS[first_dealer]
    rng = np.random.default_rng(6)
    for expected in (pone, pone, dealer, dealer, pone, dealer):
        assert env.agent_selection == expected
        act_randomly(env, rng)


def test_the_second_discard_sees_the_first():
    env = crib_env.raw_env()
    env.reset(seed=7)
    agent = env.agent_selection
    first, *rest = np.flatnonzero(mask_of(env, agent)).tolist()
    env.step(first)
    assert env.agent_selection == agent
    assert ones(bits_of(env, agent)[53:105]) == {first}
    assert ones(mask_of(env, agent)) == set(rest)


def test_the_deal_passes_to_the_other_player():
    env = crib_env.raw_env()
    env.reset(seed=8, options={"first_dealer": 1})
    rng = np.random.default_rng(8)
    dealers = []
    while not is_over(env):
        if bits_of(env, env.agent_selection)[1:53].sum() == 6 and env.agent_selection != PLAYERS[env.dealer]:
            dealers.append(env.dealer)  # pone is about to discard the first card of a deal
        act_randomly(env, rng)
    assert len(dealers) > 4
    assert dealers == [(k + 1) % 2 for k in range(len(dealers))]


def test_the_same_player_acts_again_after_a_go():
    """K, J and Q make 30. player_1 holds tens only: the environment says go for it, player_0 lays its ace for 31."""
    env = play_of("KC QC AC 9C", "JD TD TH QH")
    lay(env, "KC", "JD", "QC")
    assert env.agent_selection == "player_0"
    assert ones(mask_of(env, "player_0")) == {parse_card("AC")}
    lay(env, "AC")
    assert env.rewards == {"player_0": 2.0, "player_1": -2.0}
    assert env.agent_selection == "player_1"  # leads the next count


def test_a_player_goes_on_alone_when_the_other_has_no_cards_left():
    env = play_of("AC 2C 3C 4C", "KD QD JD TD")
    movers = []
    while not is_over(env):
        movers.append(env.agent_selection)
        env.step(int(np.flatnonzero(mask_of(env, env.agent_selection))[0]))
    assert movers == [PLAYERS[seat] for seat in (0, 1, 0, 1, 0, 0, 1, 1)]


# ------------------------------------------------------------------------------------------------------------- infos


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


def test_events_in_plain_words():
    env = play_of("5C 5H 5D KC", "5S JD QD KD")
    lay(env, "5C", "5S")
    assert env.infos["player_0"]["events"] == (Event(player=1, points=2, kind="pair"),)
    lay(env, "5H")
    assert env.infos["player_1"]["events"] == ((1, 2, "pair"), (0, 2, "fifteen"), (0, 6, "three of a kind"))
    assert env.infos["player_0"]["events"] == ((0, 2, "fifteen"), (0, 6, "three of a kind"))
    assert env.scores == (8, 2)


# ----------------------------------------------------------------------------------------------------------- rewards


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


def test_two_points_are_received_once_by_each_player():
    """The trap: a cumulative reward that is not cleared pays a single +2/-2 again at every turn that follows."""
    env = play_of("KC 2C 6C 8D", "KD 3S 7H 9D")
    received = {agent: [] for agent in PLAYERS}
    for card in ("KC", "KD", "2C", "3S"):  # counts 10, 20 for a pair, 22, 25
        received[env.agent_selection].append(env.last()[1])
        lay(env, card)
    received[env.agent_selection].append(env.last()[1])
    assert env.scores == (0, 2)
    assert received == {"player_0": [0.0, -2.0, 0.0], "player_1": [0.0, 2.0]}


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


@pytest.mark.parametrize(("loser", "match_points"), [(90, 3), (91, 2), (60, 3)])
def test_a_loser_at_90_or_less_is_skunked(loser, match_points):
    env = play_of("KC 2C 6C 8D", "KD 4S 7H 9D", scores=(loser, 119), reward="match")
    lay(env, "KC", "KD")
    assert is_over(env)
    assert env.rewards == {"player_0": -match_points, "player_1": match_points}


# ----------------------------------------------------------------------------------------------------- episode ends


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


@pytest.mark.parametrize("episode", ["deal", "play", "pegging"])
def test_a_deal_and_the_play_end_at_121_too(episode):
    env = crib_env.raw_env(episode=episode)
    rng = np.random.default_rng(16)
    env.reset(seed=1, options={"scores": (120, 120)})
    decisions = 0
    while not is_over(env):
        act_randomly(env, rng)
        decisions += 1
    assert max(env.scores) == 121
    assert decisions < (12 if episode == "deal" else 8)


def test_the_play_begins_with_four_cards_each_and_two_in_the_crib():
    deal = parse_cards("AC 2C 3C 4C 5C 6C AD 2D 3D 4D 5D 6D KH")
    env = crib_env.raw_env(episode="play", observation="board")
    env.reset(options={"deals": [deal], "first_dealer": 1})
    for seat, agent in enumerate(PLAYERS):
        bits = bits_of(env, agent)
        assert ones(bits[1:53]) == set(deal[6 * seat : 6 * seat + 4])
        assert ones(bits[496:548]) == set(deal[6 * seat + 4 : 6 * seat + 6])
        assert ones(bits[600:652]) == {parse_card("KH")}
    assert env.agent_selection == "player_0"


@both_environments
def test_both_players_leave_after_the_end(make):
    env = make(episode="play")
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
