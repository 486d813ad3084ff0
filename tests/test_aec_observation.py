"""What a player of the PettingZoo environment sees: spaces, every bit, the mask, pictures and views."""

from __future__ import annotations

import copy
import re
from dataclasses import fields

import numpy as np
import pytest
from gymnasium import spaces

import crib_env
from crib_env import parse_card
from crib_env.aec import PLAYERS
from tests.helpers.aec_play import (
    act_randomly,
    all_episodes,
    bits_of,
    both_masks,
    is_over,
    mask_of,
    ones,
    side_by_side,
)
from tests.helpers.reference import rank


def test_metadata_and_names():
    env = crib_env.env()
    assert env.metadata["name"] == str(env) == "cribbage_v0"
    assert env.metadata["is_parallelizable"] is False
    assert set(env.metadata["render_modes"]) == {"human", "ansi", "rgb_array"}
    assert env.possible_agents == ["player_0", "player_1"]
    env.reset()
    assert env.agents == ["player_0", "player_1"]
    assert env.num_agents == env.max_num_agents == 2


@both_masks
@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize(("observation", "size"), [("209", 209), ("board", 659), ("ranks", 479)])
def test_spaces(observation, size, dtype, mask):
    env = crib_env.env(observation=observation, dtype=dtype, mask=mask)
    bits = spaces.Box(0, 1, (size,), dtype)
    both = spaces.Dict(observation=bits, action_mask=spaces.Box(0, 1, (52,), "int8" if dtype == "int8" else "bool"))
    for agent in PLAYERS:
        assert env.observation_space(agent) == (bits if mask == "info" else both)
        assert env.action_space(agent) == spaces.Discrete(52)
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)


@all_episodes
@pytest.mark.parametrize(
    ("observation", "dtype", "mask"),
    [
        ("209", "int8", "info"),
        ("209", "float32", "observation"),
        ("board", "float32", "info"),
        ("ranks", "float32", "info"),
    ],
)
def test_observations_lie_in_their_spaces_for_both_players_at_any_time(episode, observation, dtype, mask):
    env = crib_env.env(episode=episode, observation=observation, dtype=dtype, mask=mask)
    other = crib_env.env(episode=episode, observation=observation)
    env.reset(seed=1)
    other.reset(seed=1)
    rng = np.random.default_rng(1)
    while True:
        for agent in PLAYERS:
            for one in (env, other):
                assert one.observation_space(agent).contains(one.observe(agent))
            assert mask_of(env, agent).dtype == ("int8" if dtype == "int8" else "bool")
            np.testing.assert_array_equal(bits_of(env, agent), bits_of(other, agent))
            np.testing.assert_array_equal(mask_of(env, agent), mask_of(other, agent))
        if is_over(env):
            break
        card = int(rng.choice(np.flatnonzero(mask_of(env, env.agent_selection))))
        env.step(card)
        other.step(card)


def is_cut(game):
    return game.starter is not None and len(game.discards[0]) == len(game.discards[1]) == 2


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


# The count and the cards that belong to it: an episode that is over has no current count, and these bits may be any.
COUNT_BITS = {*range(449, 480), *range(488, 496)}


@all_episodes
@pytest.mark.parametrize(("observation", "mask"), [("209", "observation"), ("board", "info")])
def test_every_bit_of_the_observation(episode, observation, mask):
    phases, bits_seen = set(), set()
    n = 40 if episode == "game" else 300  # a game has nine deals
    for env, game, _ in side_by_side(2, n, episode=episode, observation=observation, mask=mask):
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
    is_alone = episode in ("play", "pegging")
    assert phases == {"play", "over"} | (set() if is_alone else {"discard"})
    possible = set(range(209 if observation == "209" else 659))
    possible -= {495}  # the eighth card ends its count
    if is_alone:
        possible -= {657, 658}  # five or six cards in the opponent's hand
    if episode == "pegging":
        possible -= {*range(496, 548), *range(600, 652)}  # no own discards, no starter
    assert bits_seen == possible  # each bit has been on at some time


@both_masks
@all_episodes
def test_the_mask_shows_the_legal_cards_of_the_player_to_act_and_nothing_to_the_other(episode, mask):
    n_held_back = 0
    for env, game, _ in side_by_side(3, 20, episode=episode, mask=mask):
        for seat, agent in enumerate(PLAYERS):
            is_to_act = game.phase != "over" and game.turn == seat
            assert ones(mask_of(env, agent)) == (game.legal() if is_to_act else set())
        if game.phase != "over":
            assert env.agent_selection == PLAYERS[game.turn]
            n_held_back += game.legal() < set(game.hands[game.turn])
    assert n_held_back > 5  # cards that would have passed 31


def test_the_mask_is_in_one_place_only():
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
def test_kept_observations_do_not_change_when_the_game_continues(mask):
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
def test_writing_into_an_observation_does_not_change_the_game(mask):
    env = crib_env.raw_env(mask=mask)
    env.reset(seed=6)
    agent = env.agent_selection
    hand = ones(bits_of(env, agent)[1:53])
    bits_of(env, agent)[:] = 1
    mask_of(env, agent)[:] = 1
    assert ones(bits_of(env, agent)[1:53]) == hand
    with pytest.raises(ValueError, match="not a legal action"):
        env.step(min(set(range(52)) - hand))


CARD = re.compile(r"\b[A23456789TJQK][CDHS]\b")


@all_episodes
def test_the_text_shows_what_the_player_to_act_knows_and_nothing_else(episode):
    for env, game, _ in side_by_side(23, 25, episode=episode, render_mode="ansi"):
        table, agent = env.render(), env.agent_selection
        seat = PLAYERS.index(agent)
        known = {*game.hands[seat], *game.discards[seat], *(card for _, card in game.laid)}
        known |= {game.starter} if is_cut(game) else set()
        assert {parse_card(text) for text in CARD.findall(table)} == known
        assert max(map(len, table.splitlines())) <= 80
        name, first, *_ = table.splitlines()
        dealt = " (dealer)"
        own, other = (f"{game.scores[of]}{dealt * (of == game.dealer)}" for of in (seat, 1 - seat))
        assert (name, first.split(",")[0]) == (agent, f"you {own}   opponent {other}")


def padded(items, length):
    return list(items) + [-1] * (length - len(items))


@all_episodes
def test_views_are_a_batch_of_one_that_agrees_with_observe(episode):
    n_gone = 0
    for env, game, _ in side_by_side(26, 25 if episode == "game" else 100, episode=episode):
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
            own = [*game.hands[seat], *(card for by, card in game.laid if by == seat)]
            assert views.kept[0].tolist() == padded(sorted(own) if len(own) == 4 else [], 4)
            if game.phase != "over":
                assert views.count[0] == game.count
                assert views.pile_start[0] == len(game.laid) - len(game.pile)
                assert views.pile_ranks[0].tolist() == padded([rank(card) for card in game.pile], 8)
            if game.phase != "over" and game.turn == seat:
                other_said_go = 1 - seat in game.said_go and bool(game.hands[1 - seat])
                assert views.said_go[0].tolist() == [False, other_said_go]
                n_gone += other_said_go
                (decision,) = crib_env.decisions(views)
                assert [(by ^ seat, card) for by, card in decision.history] == game.history
                assert list(decision.pile) == game.pile
    assert n_gone > 8


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
