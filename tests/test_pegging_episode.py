"""The pegging episode: eight cards, four each, and nothing else. Its rules are those of the play."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env import parse_card, parse_cards
from crib_env.aec import PLAYERS, raw_env
from crib_env.batch import GameBatch
from crib_env.engine import OVER
from crib_env.kernels import streams
from crib_env.picture.seen import table_lines
from crib_env.players.games import deal_result, ended_deals

HANDS = "5C 5D 4S JH 5H 6C 4D KS"  # player_0's four, player_1's four


def begin(deal=HANDS, **options):
    env = raw_env(episode="pegging", observation="board", events=True)
    env.reset(options={"first_dealer": 1, "deals": [deal], **options})
    return env


def lay(env, cards):
    """What these cards peg, as text."""
    pegged = []
    for card in cards.split():
        agent = env.agent_selection
        env.step(parse_card(card))
        pegged += [f"{event.player} {event.points} {event.kind}" for event in env.infos[agent]["events"]]
    return pegged


def test_eight_cards_and_nothing_else():
    env = begin()
    assert env.agent_selection == "player_0"  # pone leads
    for seat, player in enumerate(PLAYERS):
        bits, views = env.observe(player)["observation"], env.views(player)
        hand = parse_cards(HANDS)[4 * seat : 4 * seat + 4]
        assert set(np.flatnonzero(bits[1:53])) == set(hand)
        assert not bits[53:209].any()  # nothing else is known, nothing is laid
        assert not bits[496:652].any()  # no own discards, no cards of the opponent, no starter
        assert views.hand[0].tolist() == [*sorted(hand), -1, -1]
        assert views.discards[0].tolist() == [-1, -1]
        assert views.starter[0] == -1
        assert views.kept[0].tolist() == sorted(hand)
        assert not views.is_discard[0]
    text = "\n".join(table_lines(env.views("player_0")))
    assert "starter" not in text
    assert "discarded" not in text


def test_a_play_by_hand():
    env = begin()
    assert lay(env, "5C 5H") == ["1 2 pair"]
    assert lay(env, "5D 6C") == ["0 2 fifteen", "0 6 three of a kind"]
    assert lay(env, "4S 4D") == ["0 3 run", "1 2 pair", "1 1 go"]  # the count is 29, and tens are left
    assert env.agent_selection == "player_0"
    assert env.scores == (11, 5)
    assert lay(env, "JH KS") == ["1 1 last card"]
    assert env.scores == (11, 6)
    assert env.terminations == dict.fromkeys(PLAYERS, True)
    assert env.games["phase"][0] == OVER


def test_a_jack_scores_nothing_by_itself():
    """No heels, no nobs, no flush, no show: the episode ends with the last card."""
    env = begin("JC 9C 7C 3C KC QC 8C 2C")
    pegged = lay(env, "JC KC 9C 2C 7C QC 3C 8C")
    assert {event.split(" ", 2)[2] for event in pegged} <= {"thirty-one", "go", "fifteen", "last card"}
    assert all(env.terminations.values())


@pytest.mark.parametrize(
    ("deals", "says"),
    [
        ([HANDS + " 2H"], r"options\['deals'\]\[0\] has 9 cards: a deal is 4 for player_0, 4 for player_1"),
        ([list(range(13))], "has 13 cards"),
        ([HANDS, HANDS.replace("KS", "5C")], r"options\['deals'\]\[1\]: 5C is given twice"),
        ([5], "a deal is a sequence of 8 cards"),
    ],
)
def test_other_deals_are_refused(deals, says):
    env = raw_env(episode="pegging")
    with pytest.raises(ValueError, match=says):
        env.reset(options={"deals": deals})


@settings(deadline=None, max_examples=200)
@given(
    cards=st.permutations(range(52)),
    dealer=st.integers(0, 1),
    scores=st.tuples(st.integers(0, 120), st.integers(0, 120)),
    choices=st.lists(st.integers(0, 3), min_size=8, max_size=8),
)
def test_it_is_the_play_without_discards_and_starter(cards, dealer, scores, choices):
    """The same hands and cards peg the same in both episodes, whatever is discarded and cut in the other."""
    options = {"first_dealer": dealer, "scores": scores}
    one, two = raw_env(episode="play", events=True), raw_env(episode="pegging", events=True)
    one.reset(options={**options, "deals": [cards[:13]]})
    two.reset(options={**options, "deals": [[*cards[:4], *cards[6:10]]]})
    for choice in choices:
        if all(one.terminations.values()):
            break
        agent = one.agent_selection
        assert agent == two.agent_selection
        masks = [env.observe(agent)["action_mask"] for env in (one, two)]
        np.testing.assert_array_equal(*masks)
        legal = masks[0].nonzero()[0]
        for env in (one, two):
            env.step(legal[choice % len(legal)])
        assert one.scores == two.scores
        assert one.infos[agent]["events"] == two.infos[agent]["events"]
        assert one.rewards == two.rewards
    assert all(one.terminations.values())
    assert all(two.terminations.values())


def test_dealers_by_a_coin_and_hands_by_the_stream():
    games = GameBatch(streams(3, 2_000), episode="pegging").games
    assert abs(games["dealer"].mean() - 0.5) < 0.06
    np.testing.assert_array_equal(games["turn"], 1 - games["dealer"])
    held = games["cards"][:, [0, 1, 2, 3, 6, 7, 8, 9]]
    assert (np.delete(games["cards"], [0, 1, 2, 3, 6, 7, 8, 9], axis=1) == -1).all()
    counts = np.bincount(held.ravel(), minlength=52)
    assert abs(counts / 2_000 - 8 / 52).max() < 0.04
    assert (GameBatch(streams(3, 5), episode="pegging", first_dealer=1).games["dealer"] == 1).all()
    assert (GameBatch(streams(3, 5), episode="pegging", scores=(7, 9)).games["scores"] == (7, 9)).all()


@pytest.mark.parametrize("reward", ["win", "match"])
def test_who_makes_more_points_wins(reward):
    env = raw_env(episode="pegging", reward=reward, events=True)
    env.reset(options={"first_dealer": 1, "scores": (3, 80), "deals": [HANDS]})
    lay(env, "5C 5H 5D 6C 4S 4D JH KS")
    assert env.scores == (14, 86)
    assert env.rewards["player_0"] == (1 if reward == "win" else 2)


def test_the_vector_environment_shows_four_cards_and_no_others():
    envs = gymnasium.make_vec(
        "crib_env/CribbagePegging-v0", num_envs=3, vectorization_mode="vector_entry_point", opponent="greedy", seat=0
    )
    observations, infos = envs.reset(seed=1, options={"first_dealer": 1})
    assert infos["action_mask"].sum(axis=1).tolist() == [4, 4, 4]
    assert not observations["observation"][:, 53:209].any()


def test_results_of_the_pegging_episode():
    batch = GameBatch(streams(5, 40), episode="pegging")
    while len(rows := batch.acting()):
        cards = batch.native_cards(rows, 0)
        _, tables = ended_deals(batch.games[rows], cards)
        batch.step(rows, cards)
        for table in tables:
            told = deal_result(table, 0, 0)
            assert (told.starter, told.discards, told.crib) == (None, (), ())
            assert told.opponent_hand == ()  # there is no show; all cards stand in the play
            assert (len(told.hand), len(told.laid)) == (4, 8)
    assert (batch.tally[..., 1:] == 0).all()  # points of the play alone
