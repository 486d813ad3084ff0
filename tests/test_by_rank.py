"""What Q-networks see by rank, and known gains: against exact values, plain scoring and the settled rewards."""

import numpy as np
import pytest

import crib_env
from crib_env.agents import make_agent
from crib_env.agents.networks.ddqn import DDQNAgent
from crib_env.agents.networks.seen import OF_THE_PLAY, Inputs
from crib_env.batch import GameBatch
from crib_env.engine import EPISODES
from crib_env.kernels import streams
from crib_env.train.ddqn import transitions_of
from crib_env.train.shared.experience import play_episodes, rewards_of
from crib_env.train.td import the_bits
from tests.helpers.ranks_from_bits import seen_in


def played(n=40, see=the_bits, **options):
    """Decisions of careless players, who see the 209 bits."""
    batch = GameBatch(streams(3, n), **({"episode": "deal"} | options))
    rng = np.random.default_rng(0)
    policy = lambda seen, *_: np.where(seen.legal, rng.random(seen.legal.shape), -1.0).argmax(axis=1)  # noqa: E731
    return play_episodes(batch, policy, None, see)


def mask_of(decisions):
    return decisions.gains > -np.inf


def seen_of(decisions):
    return seen_in(decisions.inputs, mask_of(decisions), decisions.is_discard)


def gains_of_discards(observation, mask):
    """A card's gain from the exact statistics of all discards."""
    held, known = (np.flatnonzero(observation[start : start + 52]) for start in (1, 53))
    rows = [row for row in crib_env.discard_statistics([[*held, *known]])[0] if set(known) <= set(row["discard"])]
    sign = 1 if observation[0] else -1
    worth = [row["hand_mean"] + sign * row["crib_mean"] for row in rows]
    gains = np.full(52, -np.inf)
    for card in np.flatnonzero(mask):
        gains[card] = max(value for row, value in zip(rows, worth) if card in row["discard"]) - max(worth)
    return gains


def pile_of(observation, hand):
    """Ranks of the cards that count now."""
    pile = []
    for slot in range(8):
        rank = np.flatnonzero(observation[105 + 13 * slot : 118 + 13 * slot])
        if len(rank):
            pile.append(int(rank[0]))
            if count_of(pile) > 31:
                pile = pile[-1:]
    if min(count_of([*pile, card % 13]) for card in hand) > 31:
        pile = []
    return pile


def count_of(ranks):
    return sum(min(rank + 1, 10) for rank in ranks)


def points_of(ranks):
    """Points of the last card; suits that make each rank's cards differ."""
    return crib_env.score_play([13 * ranks[:k].count(rank) + rank for k, rank in enumerate(ranks)])


def test_gains_of_discards_are_the_exact_values():
    decisions = played(10)
    found, masks = seen_of(decisions).gains, mask_of(decisions)
    for row in np.flatnonzero(decisions.is_discard):
        np.testing.assert_allclose(found[row], gains_of_discards(decisions.inputs[row], masks[row]), atol=1e-4)


@pytest.mark.parametrize("episode", ["deal", "pegging"])
def test_gains_and_answers_of_the_play_are_those_of_plain_scoring(episode):
    decisions = played(25, episode=episode)
    seen = seen_of(decisions)
    assert (~decisions.is_discard).sum() > 150
    for row in np.flatnonzero(~decisions.is_discard):
        bits = decisions.inputs[row]
        hand, known = (np.flatnonzero(bits[start : start + 52]) for start in (1, 53))
        pile = pile_of(bits, hand)
        unseen = 4 - np.bincount([card % 13 for card in [*hand, *known]], minlength=13)
        theirs = 8 - bits[105:].sum() - len(hand)
        expected, answers = np.full(52, -np.inf), np.zeros((13, 5), int)
        for card in np.flatnonzero(mask_of(decisions)[row]):
            after = [*pile, card % 13]
            expected[card] = points_of(after)
            if theirs:
                if count_of(after) == 31:
                    after = []
                fits = [r for r in range(13) if unseen[r] and count_of([*after, r]) <= 31]
                mean = sum(unseen[r] * points_of([*after, r]) for r in fits) / unseen.sum()
                answers[card % 13] = mean >= np.array([0.15, 0.3, 0.5, 0.8, 1.2])
        np.testing.assert_array_equal(seen.gains[row], expected.astype(np.float32))
        at = OF_THE_PLAY.stop - 5 - 65
        np.testing.assert_array_equal(seen.inputs[row, at : at + 65].reshape(13, 5), answers)
        assert seen.inputs[row, -5:].sum() == 1
        assert seen.inputs[row, -5 + theirs] == 1


def test_a_settled_reward_less_the_gain_is_what_the_others_peg():
    """Of a first discard nothing is left; of a card of the play, what is pegged before the same player's next."""
    decisions = played(100, Inputs("ranks", "209").of_games)
    left = transitions_of(decisions, *rewards_of(decisions, True), 1.0).reward
    first = decisions.is_discard & np.append(True, decisions.chain[1:] != decisions.chain[:-1])
    np.testing.assert_allclose(left[first], 0.0, atol=1e-4)
    np.testing.assert_allclose(left, left.round(), atol=1e-3)
    assert (left <= 13).all()
    assert (left[~decisions.is_discard] < 0).any()


def test_an_untrained_network_of_zeros_takes_what_is_known():
    """Before the play that is the best discard by exact values, in the play the most points at once."""
    agent, greedy = DDQNAgent.new("split", "209", "ranks", (4,)), make_agent("greedy")
    for network in agent.networks.values():
        for parameter in network.parameters():
            parameter.data.zero_()
    batch = GameBatch(streams(1, 100), episode="deal")
    while len(rows := batch.acting()):
        views = batch.views(rows)
        mine, theirs = agent.act(views), greedy.act(views)
        gains = views.ranks_and_gains[1]
        each = np.arange(len(rows))
        same = ~views.is_discard | views.is_dealer.astype(bool)  # as pone greedy does not look at the crib
        np.testing.assert_allclose(gains[each, mine][same], gains[each, theirs][same], atol=1e-5)
        batch.step(rows, theirs)


@pytest.mark.parametrize("episode", EPISODES)
def test_the_inputs_by_rank_are_those_of_the_game_of_views_and_of_the_209_bits(episode):
    batch, rng, n_decisions = GameBatch(streams(5, 60), episode=episode), np.random.default_rng(1), 0
    while len(rows := batch.acting()) and n_decisions < 3_000:
        views = batch.views(rows)
        bits, masks = batch.observe(rows)
        seen, masks_again = batch.observe(rows, "ranks")
        expected = seen_in(bits, masks, views.is_discard)
        np.testing.assert_array_equal(seen, expected.inputs)
        for found in (views.ranks_and_gains, batch.ranks_and_gains(rows)):
            np.testing.assert_array_equal(found[0], expected.inputs)
            np.testing.assert_array_equal(found[1], expected.gains)
        np.testing.assert_array_equal(masks, masks_again)
        batch.step(rows, np.where(masks != 0, rng.random(masks.shape), -1.0).argmax(axis=1))
        n_decisions += len(rows)
    assert n_decisions >= 8 * 60
