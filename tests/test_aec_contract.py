"""What the PettingZoo environment promises (the page in crib_env/aec.py), looked at from outside.

Where the test must know all cards, they are dealt through ``options["deals"]`` and the environment is played beside the
slow reference game of tests/reference.py: from its lists the test states in plain Python what each player should see.
"""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import fields

import numpy as np
import pytest
from gymnasium import spaces

import crib_env
from crib_env import parse_card, parse_cards
from crib_env.aec import PLAYERS, Event
from tests.reference import ReferenceGame, rank

EPISODES = ("game", "deal", "play")
both_environments = pytest.mark.parametrize("make", [crib_env.env, crib_env.raw_env], ids=["env", "raw_env"])
both_masks = pytest.mark.parametrize("mask", ["observation", "info"])
all_episodes = pytest.mark.parametrize("episode", EPISODES)


def bits_of(env, agent):
    observation = env.observe(agent)
    return observation["observation"] if isinstance(observation, dict) else observation


def mask_of(env, agent):
    """From whichever place it stands in."""
    observation = env.observe(agent)
    return observation["action_mask"] if isinstance(observation, dict) else env.infos[agent]["action_mask"]


def ones(array):
    return set(np.flatnonzero(array).tolist())


def is_over(env):
    return all(env.terminations.values())


def act_randomly(env, rng):
    env.step(int(rng.choice(np.flatnonzero(mask_of(env, env.agent_selection)))))


def seen_by_all(env):
    """All that users can see of an episode at one time."""
    return (
        env.agent_selection,
        {**env.rewards},
        env.last(observe=False)[1:4] if env.agents else None,
        env.scores,
        env.dealer,
        *(
            (bits_of(env, agent).tolist(), ones(mask_of(env, agent)), env.infos[agent]["events"])
            for agent in env.agents
        ),
    )


def play_on(env, seed=0):
    """Random decisions to the end of the episode and the next one after it, yielding what is seen after each."""
    rng = np.random.default_rng(seed)
    for _ in range(2):
        while not is_over(env):
            act_randomly(env, rng)
            yield seen_by_all(env)
        env.reset()
        yield seen_by_all(env)


def random_deals(rng, n=40):
    """More deals than any game takes."""
    return [rng.permutation(52)[:13].tolist() for _ in range(n)]


def side_by_side(seed, n_games, make=crib_env.raw_env, **options):
    """Random games of the environment and the reference: both, and who acted (None after a reset), card by card."""
    rng = np.random.default_rng(seed)
    env = make(**options)
    for _ in range(n_games):
        deals, first_dealer = random_deals(rng), int(rng.integers(2))
        scores = rng.integers(121, size=2).tolist()
        env.reset(options={"deals": deals, "first_dealer": first_dealer, "scores": scores})
        game = ReferenceGame(first_dealer, scores, options.get("episode", "game"))
        game.deal(deals.pop(0))
        yield env, game, None
        while not is_over(env):
            mover = env.agent_selection
            card = int(rng.choice(np.flatnonzero(mask_of(env, mover))))
            env.step(card)
            game.act(card)
            if game.phase == "deal":
                game.deal(deals.pop(0))
            yield env, game, mover


def play_of(pone, dealer, scores=(0, 0), **options):
    """The play alone with these four cards each; player_0 is pone."""
    given = [parse_cards(pone), parse_cards(dealer)]
    rest = [card for card in range(52) if card not in given[0] + given[1]]
    env = crib_env.raw_env(episode="play", **options)
    deal = [*given[0], *rest[:2], *given[1], *rest[2:4], rest[4]]
    env.reset(options={"first_dealer": 1, "deals": [deal], "scores": scores})
    return env


def lay(env, *cards):
    for card in cards:
        env.step(parse_card(card))


# ------------------------------------------------------------------------------------------------- names and spaces


@both_environments
def test_metadata_and_names(make):
    env = make()
    assert env.metadata["name"] == str(env) == "cribbage_v0"
    assert env.metadata["is_parallelizable"] is False
    assert set(env.metadata["render_modes"]) == {"human", "ansi"}
    assert env.possible_agents == ["player_0", "player_1"]
    env.reset()
    assert env.agents == ["player_0", "player_1"]
    assert env.num_agents == env.max_num_agents == 2


@both_masks
@pytest.mark.parametrize(("observation", "size"), [("209", 209), ("board", 659)])
def test_spaces(observation, size, mask):
    env = crib_env.env(observation=observation, mask=mask)
    bits = spaces.Box(0, 1, (size,), np.int8)
    both = spaces.Dict(observation=bits, action_mask=spaces.Box(0, 1, (52,), np.int8))
    for agent in PLAYERS:
        assert env.observation_space(agent) == (bits if mask == "info" else both)
        assert env.action_space(agent) == spaces.Discrete(52)
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)


@both_masks
@all_episodes
@pytest.mark.parametrize("observation", ["209", "board"])
def test_observations_lie_in_their_spaces_for_both_players_at_any_time(episode, observation, mask):
    env = crib_env.env(episode=episode, observation=observation, mask=mask)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    while True:
        for agent in PLAYERS:
            assert env.observation_space(agent).contains(env.observe(agent))
            assert spaces.Box(0, 1, (52,), np.int8).contains(mask_of(env, agent))
        if is_over(env):
            break
        act_randomly(env, rng)


# ---------------------------------------------------------------------------------------------- observation and mask


def is_cut(game):
    return len(game.discards[0]) == len(game.discards[1]) == 2


def expected_209(game, seat):
    """Which of the 209 bits are on, from the cards on the table."""
    bits = {0} if game.dealer == seat else set()
    bits |= {1 + card for card in game.hands[seat]}
    bits |= {53 + card for card in game.discards[seat]}
    bits |= {53 + card for _, card in game.laid}
    bits |= {53 + game.starter} if is_cut(game) else set()
    bits |= {105 + 13 * slot + rank(card) for slot, (_, card) in enumerate(game.laid)}
    return bits


def expected_rest_of_board(game, seat):
    """Which of the bits 209 to 658 are on."""
    bits = {209 + k for k in range(120) if game.scores[seat] > k}
    bits |= {329 + k for k in range(120) if game.scores[1 - seat] > k}
    bits |= {449 + game.count} if game.count < 31 else set()
    bits |= {480 + slot for slot, (by, _) in enumerate(game.laid) if by == seat}
    bits |= {488 + slot for slot in range(len(game.laid) - len(game.pile), len(game.laid))}
    bits |= {496 + card for card in game.discards[seat]}
    bits |= {548 + card for by, card in game.laid if by != seat}
    bits |= {600 + game.starter} if is_cut(game) else set()
    bits |= {652 + len(game.hands[1 - seat])}
    return bits


# The count and which cards belong to it: once the episode is over no count goes on, and these bits stay as they fall.
COUNT_BITS = {*range(449, 480), *range(488, 496)}


@both_masks
@all_episodes
@pytest.mark.parametrize("observation", ["209", "board"])
def test_every_bit_of_the_observation(episode, observation, mask):
    phases, bits_seen = set(), set()
    for env, game, _ in side_by_side(2, 300, episode=episode, observation=observation, mask=mask):
        for seat, agent in enumerate(PLAYERS):
            expected = expected_209(game, seat)
            if observation == "board":
                expected |= expected_rest_of_board(game, seat)
            seen = ones(bits_of(env, agent))
            if game.phase == "over":
                seen, expected = seen - COUNT_BITS, expected - COUNT_BITS
            assert seen == expected
            bits_seen |= seen
        phases.add(game.phase)
    assert phases == {"play", "over"} | (set() if episode == "play" else {"discard"})
    possible = set(range(209 if observation == "209" else 659))
    possible -= {495}  # the eighth card ends its count
    if episode == "play":
        possible -= {657, 658}  # five or six cards in the opponent's hand
    assert bits_seen == possible  # each bit has been on at some time


@both_masks
@both_environments
@all_episodes
def test_the_mask_shows_the_legal_cards_of_the_player_to_act_and_nothing_to_the_other(make, episode, mask):
    n_held_back = 0
    for env, game, _ in side_by_side(3, 20, make, episode=episode, mask=mask):
        for seat, agent in enumerate(PLAYERS):
            is_to_act = game.phase != "over" and game.turn == seat
            assert ones(mask_of(env, agent)) == (game.legal() if is_to_act else set())
        if game.phase != "over":
            assert env.agent_selection == PLAYERS[game.turn]
            n_held_back += game.legal() < set(game.hands[game.turn])
    assert n_held_back > 5  # cards that would have passed 31


def test_the_mask_stands_in_one_place_only():
    in_observation, in_info = crib_env.raw_env(), crib_env.raw_env(mask="info")
    for env in (in_observation, in_info):
        env.reset(seed=1)
    for agent in PLAYERS:
        assert set(in_observation.observe(agent)) == {"observation", "action_mask"}
        assert "action_mask" not in in_observation.infos[agent]
        assert isinstance(in_info.observe(agent), np.ndarray)
        assert "action_mask" in in_info.infos[agent]


def test_last_is_what_the_player_to_act_sees():
    env = crib_env.raw_env()
    env.reset(seed=4)
    rng = np.random.default_rng(4)
    while not is_over(env):
        agent = env.agent_selection
        observation, reward, terminated, truncated, info = env.last()
        np.testing.assert_equal(observation, env.observe(agent))
        assert observation["action_mask"].any()
        assert (reward, terminated, truncated) == (env._cumulative_rewards[agent], False, False)
        assert info is env.infos[agent]
        act_randomly(env, rng)
    assert env.last()[2:4] == (True, False)
    assert env.last(observe=False)[0] is None


@both_masks
def test_what_a_user_has_kept_does_not_change_when_the_game_goes_on(mask):
    env = crib_env.raw_env(mask=mask)
    env.reset(seed=5)
    rng = np.random.default_rng(5)
    kept, copies = [], []
    while not is_over(env):
        for agent in PLAYERS:
            kept.append((env.observe(agent), env.infos[agent], env.rewards))
            copies.append(copy.deepcopy(kept[-1]))
        act_randomly(env, rng)
    np.testing.assert_equal(kept, copies)


@both_masks
def test_to_write_into_an_observation_changes_nothing(mask):
    env = crib_env.raw_env(mask=mask)
    env.reset(seed=6)
    agent = env.agent_selection
    hand = ones(bits_of(env, agent)[1:53])
    bits_of(env, agent)[:] = 1
    mask_of(env, agent)[:] = 1
    assert ones(bits_of(env, agent)[1:53]) == hand
    with pytest.raises(ValueError, match="not a legal action"):
        env.step(min(set(range(52)) - hand))


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
            dealers.append(env.dealer)  # pone is about to throw the first card of a deal
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
def test_infos_hold_scores_dealer_and_the_events_since_one_last_acted(episode):
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
            assert info == {"scores": scores_before, "dealer": game.dealer, "events": tuple(events[agent])}
            for seat in (0, 1):
                made = sum(event.points for event in info["events"] if event.player == seat)
                assert made == game.scores[seat] - scores_then[agent][seat]
            longest = max(longest, len(events[agent]))
    assert longest >= 3


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
def test_points_are_paid_as_they_fall_and_sum_to_zero(episode):
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
def test_what_last_gives_is_the_sum_of_rewards_since_ones_own_last_act_that_act_included(episode, reward):
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
    """The trap: an account that is not cleared pays a single +2/-2 again at every turn that follows."""
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


@pytest.mark.parametrize(("episode", "n_decisions"), [("deal", 12), ("play", 8)])
def test_a_deal_and_the_play_end_after_their_last_card(episode, n_decisions):
    env = crib_env.raw_env(episode=episode)
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
        if episode == "play":
            assert not show & set(kinds)
            assert kinds[-1] in ("last card", "thirty-one", "pair", "three of a kind", "four of a kind", "run")
        else:
            assert kinds[-3:] == ["pone's hand", "dealer's hand", "crib"]


@pytest.mark.parametrize("episode", ["deal", "play"])
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


# ------------------------------------------------------------------------------------------------------------- reset


def test_first_dealer_is_a_coin_or_what_is_asked_for():
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


def test_deals_serve_one_episode_only():
    env = crib_env.raw_env()
    env.reset(seed=1, options={"deals": [FIRST, SECOND]})
    env.reset()
    assert hands_dealt(env, 2)[0][0] not in (set(parse_cards(FIRST)[:6]), set(parse_cards(SECOND)[:6]))


@both_environments
def test_reset_options_of_other_names_are_ignored(make):
    plain, other = make(), make()
    plain.reset(seed=1)
    other.reset(seed=1, options={"options": 1, "first_dealers": 7})
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


def test_games_start_at_nothing_without_start_spread():
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


def test_two_environments_that_got_no_seed_differ():
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
        assert env._games.tobytes() == twin._games.tobytes()
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
def test_a_copy_goes_on_alike_and_apart(make, options, copied, n_decisions):
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
    with pytest.raises(AttributeError, match="reset"):
        twin.last()
    for one in (env, twin):
        one.reset()  # the same fresh seed
    assert list(play_on(twin)) == list(play_on(env))


def test_several_environments_do_not_touch_each_other():
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


# ------------------------------------------------------------------------------------------------- pictures and views

CARD = re.compile(r"\b[A23456789TJQK][CDHS]\b")


def line(table, name):
    """What stands behind a name, lowest line first."""
    return [row.split(name, 1)[1].strip() for row in table.splitlines() if row.strip().startswith(name + " ")][::-1]


@all_episodes
def test_the_table_shows_what_the_player_to_act_knows_and_nothing_else(episode):
    for env, game, _ in side_by_side(23, 25, episode=episode, render_mode="ansi"):
        table, agent = env.render(), env.agent_selection
        seat = PLAYERS.index(agent)
        own_hand, other_hand = line(table, "hand")
        assert set(parse_cards(own_hand.strip("-"))) == set(game.hands[seat])
        assert other_hand.strip("-").split() == ["??"] * len(game.hands[1 - seat])
        starter = crib_env.format_card(game.starter) if is_cut(game) else "-"
        assert line(table, "starter") == [starter]
        known = {*game.hands[seat], *game.discards[seat], *(card for _, card in game.laid)}
        known |= {game.starter} if is_cut(game) else set()
        assert {parse_card(text) for text in CARD.findall(table)} == known
        assert [parse_card(text) for text in CARD.findall(line(table, "play")[0])] == [card for _, card in game.laid]
        rows = table.splitlines()
        for player, row in ((1 - seat, rows[0]), (seat, next(row for row in rows[1:] if row.startswith("player_")))):
            assert row.startswith(f"player_{player} {'dealer' if player == game.dealer else 'pone'}")
            assert row.endswith(f" {game.scores[player]}")
        if game.phase == "over":
            assert rows[-1].strip() == "the episode is over"
        else:
            assert f"count {game.count}" in table
            assert rows[-1].strip().split()[0] == ("throw" if game.phase == "discard" else "lay")


def test_human_prints_the_same_table_at_reset_and_after_each_step(capsys):
    human, ansi = crib_env.env(render_mode="human"), crib_env.env(render_mode="ansi")
    for env in (human, ansi):
        env.reset(seed=24)
    assert capsys.readouterr().out == ansi.render() + "\n"
    while not is_over(human):
        card = int(np.flatnonzero(mask_of(human, human.agent_selection))[0])
        human.step(card)
        ansi.step(card)
        assert capsys.readouterr().out == ansi.render() + "\n"
    assert human.render() is None
    assert capsys.readouterr().out == ansi.render() + "\n"


def test_nothing_is_printed_without_a_render_mode(capsys):
    env = crib_env.env()
    env.reset(seed=25)
    act_randomly(env, np.random.default_rng(25))
    assert capsys.readouterr().out == ""


def padded(items, length):
    return list(items) + [-1] * (length - len(items))


@all_episodes
def test_views_are_a_batch_of_one_that_agrees_with_observe(episode):
    for env, game, _ in side_by_side(26, 25, episode=episode):
        for seat, agent in enumerate(PLAYERS):
            views = env.views(agent)
            assert len(views) == 1
            assert all(len(getattr(views, field.name)) == 1 for field in fields(views))
            np.testing.assert_array_equal(views.observation[0], bits_of(env, agent))
            np.testing.assert_array_equal(views.action_mask[0], mask_of(env, agent))
            np.testing.assert_array_equal(views.board[0, :209], views.observation[0])
            assert views.hand[0].tolist() == padded(sorted(game.hands[seat]), 6)
            assert views.discards[0].tolist() == padded(sorted(game.discards[seat]), 2)
            assert views.starter[0] == (game.starter if is_cut(game) else -1)
            assert views.laid[0].tolist() == padded([card for _, card in game.laid], 8)
            assert views.laid_by[0].tolist() == padded([int(by != seat) for by, _ in game.laid], 8)
            assert views.scores[0].tolist() == [game.scores[seat], game.scores[1 - seat]]
            assert views.is_dealer[0] == (game.dealer == seat)
            assert views.opponent_cards[0] == len(game.hands[1 - seat])
            if game.phase != "over":
                assert views.count[0] == game.count
                assert views.pile_start[0] == len(game.laid) - len(game.pile)


def test_views_hold_the_board_observation_and_a_number_for_each_game():
    env = crib_env.raw_env(observation="board")
    rng = np.random.default_rng(27)
    ids = []
    env.reset(seed=27)
    for _ in range(3):
        for decision in range(20):
            agent = env.agent_selection
            views = env.views(agent)
            np.testing.assert_array_equal(views.board[0], bits_of(env, agent))
            assert views.decisions[0] == decision
            act_randomly(env, rng)
            ids.append(int(views.game_ids[0]))
        env.reset()
    assert len(set(ids)) == 3
    assert ids == sorted(ids)
