"""TD learning: after-states against the engine, traces and λ-returns by hand, that it learns, that runs continue."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import crib_env
from crib_env.agents import make_agent
from crib_env.agents.networks.td import TDAgent, after_states, discard_inputs, moved, play_inputs
from crib_env.batch import GameBatch
from crib_env.engine import DISCARD, EPISODES, GAME, OVER, PLAY
from crib_env.evaluate.matches.match import play_match
from crib_env.kernels import streams
from crib_env.observation import N_BITS
from crib_env.train import td
from crib_env.train.shared.experience import Decisions, play_episodes
from crib_env.train.td import (
    PRESETS,
    Explorer,
    Weights,
    fade_and_add_gradient,
    learn,
    moves_of,
    no_traces,
    play_and_learn,
    rewards_of_moves,
    targets_of,
    the_bits,
    value,
    weights_of,
)
from crib_env.views import views_of
from tests.helpers.learner_runs import new_run


def new_agent(inputs="features", hidden=(16,), seed=0):
    torch.manual_seed(seed)
    return TDAgent.new(inputs, hidden)


def positions(n=40, decisions=12):
    """Random deals, after each decision that somebody has taken."""
    batch = GameBatch(streams(11, n), episode="deal")
    for _ in range(decisions):
        rows = batch.acting()
        yield batch, rows
        batch.step(rows, batch.native_cards(rows, 0))


def test_an_after_state_is_what_the_engine_shows_after_the_move():
    """For every move in many positions; the engine's own additions, a starter cut or a new deal, are left out.

    All moves are fifteen discards, or five with the card discarded already; in the play one card of each rank.
    """
    compared = {DISCARD: 0, PLAY: 0}
    for batch, rows in positions():
        views = batch.views(rows)
        states, cards, ends = after_states(views.observation, views.action_mask, views.is_discard)
        before = batch.games.copy()
        for decision, row in enumerate(rows):
            seat, phase = int(before["turn"][row]), int(before["phase"][row])
            first, end = ends[decision - 1] if decision else 0, ends[decision]
            legal = np.flatnonzero(views.action_mask[decision])
            assert len({state.tobytes() for state in states[first:end]}) == end - first
            if phase == DISCARD:
                assert end - first == {6: 15, 5: 5}[len(legal)]
                assert (states[first:end, 1:53].sum(axis=1) == 4).all()
            else:
                assert sorted(cards[first:end] % 13) == sorted(set(legal % 13))
            for k in range(first, end):
                batch.games[row] = before[row]
                batch.step(np.array([row]), cards[k : k + 1])
                if views.hand[decision, 5] >= 0:  # the first of two to be discarded
                    gone = set(views.hand[decision].tolist()) - set(np.flatnonzero(states[k, 1:53]).tolist())
                    batch.step(np.array([row]), np.array(list(gone - {int(cards[k])})))
                if batch.games["phase"][row] == OVER:
                    continue
                seen = views_of(batch.games, np.array([row]), np.array([seat]), np.array([0])).observation[0].copy()
                if phase == DISCARD and batch.games["phase"][row] == PLAY:
                    seen[53 + int(batch.games["cards"][row, 12])] = 0
                np.testing.assert_array_equal(states[k], seen)
                compared[phase] += 1
            batch.games[row] = before[row]
    assert min(compared.values()) > 300


def test_a_move_that_is_made_was_considered():
    agent = new_agent()
    for batch, rows in positions(50):
        views = batch.views(rows)
        cards, values = agent.look_ahead(views.observation, views.action_mask, views.is_discard)
        whole = views.hand[:, 5] < 0
        discarding = views.is_discard
        for phase in (True, False):
            mine = whole & (discarding == phase)
            if mine.any():
                states = moved(views.observation[mine], cards[mine], discarding[mine])
                with torch.no_grad():
                    np.testing.assert_allclose(agent.values(states, phase).numpy(), values[mine], atol=1e-5)


def pile_state(pile, hand="", known="", dealer=True):
    state = np.zeros(N_BITS, np.int8)
    state[0] = dealer
    for k, card in enumerate(crib_env.parse_cards(pile)):
        state[105 + 13 * k + card % 13] = 1
    state[[1 + card for card in crib_env.parse_cards(hand)]] = 1
    state[[53 + card for card in crib_env.parse_cards(known)]] = 1
    return state


def test_inputs_of_the_play_by_hand():
    """K K J makes 30, go; then 4 and 6 make 10, and a 5 makes a run of three and fifteen: five points."""
    state = pile_state("KC KD JH 4S 6C", hand="4C 4D", known="KC KD JH 4S 6C 9S 9H")
    inputs, points = play_inputs(state[None])
    row = inputs[0]
    held, seen, laid, count, last, replies, theirs, answers = np.split(row[1:], np.cumsum([52, 13, 104, 31, 39, 13, 5]))
    assert row[0] == 1
    assert np.flatnonzero(held).tolist() == [3, 13 + 3]
    assert seen[[12, 10, 3, 5, 8]].tolist() == [2, 1, 1, 1, 2]
    np.testing.assert_array_equal(laid, state[105:])
    assert np.flatnonzero(count).tolist() == [10]
    assert np.flatnonzero(last).tolist() == [5, 13 + 3]
    expected = dict.fromkeys(range(13), 0) | {4: 5, 5: 2, 3: 0}
    assert replies.tolist() == [expected[rank] for rank in range(13)]
    assert np.flatnonzero(theirs).tolist() == [1]
    np.testing.assert_allclose(answers[[4, 5]], [10 * 5 * 4 / 43, 10 * 2 * 3 / 43], rtol=1e-6)
    assert answers.nonzero()[0].tolist() == [4, 5]
    assert points.tolist() == [0]
    assert play_inputs(pile_state("5C 5D 5H", hand="2C")[None])[1].tolist() == [8]
    inputs, points = play_inputs(pile_state("KC KD JH AS")[None])
    assert inputs[0, 170:].nonzero()[0].tolist() == [0, 83 + 4]  # a new count, in which no card scores yet
    assert points.tolist() == [2]


def test_count_and_points_of_the_play_are_those_of_the_engine():
    compared = 0
    for batch, rows in positions(200):
        views = batch.views(rows)
        going = (views.laid[:, 0] >= 0) & (views.count > 0)  # at 0 the last count is over, and the bits do not say so
        inputs, points = play_inputs(np.ascontiguousarray(views.observation[going]))
        np.testing.assert_array_equal(inputs[:, 170:201].argmax(axis=1), views.count[going])
        for b, view in zip(range(len(points)), np.flatnonzero(going)):
            pile = [int(card) for card in views.laid[view, views.pile_start[view] :] if card >= 0]
            assert points[b] == crib_env.score_play(pile)
            compared += 1
    assert compared > 500


def test_inputs_and_values_of_discards_are_the_exact_ones():
    batch = GameBatch(streams(4, 20), episode="deal")
    views = batch.views(np.arange(20))
    states, _, ends = after_states(views.observation, views.action_mask, views.is_discard)
    inputs, worth = discard_inputs(states)
    assert ends[-1] == len(states) == 300
    for row, hand in enumerate(np.repeat(views.hand, 15, axis=0)):
        kept, discarded = (np.flatnonzero(states[row, start : start + 52]) for start in (1, 53))
        (of_hand,) = crib_env.discard_statistics([sorted(hand)])
        (found,) = (one for one in of_hand if set(one["discard"]) == set(discarded))
        sign = 1 if states[row, 0] else -1
        assert worth[row] == pytest.approx(found["hand_mean"] + sign * found["crib_mean"], abs=1e-4)
        ranks = inputs[row, 1:53].reshape(4, 13).sum(axis=0), inputs[row, 53:].reshape(2, 13).sum(axis=0)
        np.testing.assert_array_equal(ranks[0], np.bincount(kept % 13, minlength=13))
        np.testing.assert_array_equal(ranks[1], np.bincount(discarded % 13, minlength=13))
        assert inputs[row, 0] == states[row, 0]


def tiny_weights():
    """One hidden node over two bits: 0.5 whatever it sees; U = 1 + 2 × 0.5."""
    shapes = Weights((1, 2), (1,), (1, 1), (1,))
    weights = Weights(*(np.zeros(shape, np.float32) for shape in shapes))
    weights.output[:], weights.output_bias[:] = 2, 1
    return weights


def test_a_trace_by_hand():
    """∇U is 1 for the output bias, the node's 0.5 for the output, and 2 × 0.5 × (1 - 0.5) for bias and bit."""
    weights, nodes = tiny_weights(), np.empty(1, np.float32)
    trace = no_traces(weights)
    first, second = np.array([1, 0], np.int8), np.array([1, 1], np.int8)
    assert value(weights, first, nodes) == 2
    fade_and_add_gradient(trace, weights, first, nodes, 0.25)
    assert [array.tolist() for array in trace] == [[[0.5, 0.0]], [0.5], [[0.5]], [1.0]]
    value(weights, second, nodes)
    fade_and_add_gradient(trace, weights, second, nodes, 0.25)
    assert [array.tolist() for array in trace] == [[[0.625, 0.5]], [0.625], [[0.625]], [1.25]]
    learn(weights, trace, 0.1 * (5 - 2))
    found = np.concatenate([array.ravel() for array in weights])
    np.testing.assert_allclose(found, [0.1875, 0.15, 0.1875, 2.1875, 1.375], rtol=1e-6)


def gradient(network, state):
    network.zero_grad()
    network(torch.from_numpy(state)[None].float())[0].backward()
    return [parameter.grad.clone() for parameter in network.parameters()]


def a_deal_learned_slowly(agent, episode, seed, rate, td_lambda):
    """One deal of self-play in the environment's steps, and the rule of ``train/td.py`` by torch's gradients."""
    network, batch = agent.networks["all"], GameBatch(np.array([seed], np.uint64), episode=episode)
    row, last, traces = np.array([0]), [None, None], [None, None]

    def value_of(state):
        with torch.no_grad():
            return network(torch.from_numpy(state)[None].float()).item()

    def update(seat, target):
        state = last[seat][0]
        new, old = gradient(network, state), traces[seat]
        traces[seat] = new if old is None else [td_lambda * e + g for e, g in zip(old, new)]
        error = target - value_of(state)
        with torch.no_grad():
            for parameter, e in zip(network.parameters(), traces[seat]):
                parameter += rate * error * e

    def lead(seat):
        scores = batch.games["scores"][0].astype(int)
        return int(scores[seat] - scores[1 - seat])

    while len(batch.acting()):
        views, seat = batch.views(row), int(batch.games["turn"][0])
        discarding = views.is_discard
        cards, _ = agent.look_ahead(views.observation, views.action_mask, discarding)
        if views.hand[0, 5] < 0:
            state = moved(views.observation, cards, discarding)[0]
            if last[seat] is not None:
                update(seat, lead(seat) - last[seat][1] + value_of(state))
            last[seat] = state, lead(seat)
        batch.step(row, cards)
    for seat in (0, 1):
        update(seat, lead(seat) - last[seat][1])


@pytest.mark.parametrize("episode", ["deal", "pegging"])
@pytest.mark.parametrize("td_lambda", [0.0, 0.7])
def test_deals_are_learned_from_as_the_rule_says(td_lambda, episode):
    for seed in range(12):
        fast, slow = new_agent("bits", (6,), seed), new_agent("bits", (6,), seed)
        weights, games = weights_of(fast.networks["all"]), np.zeros(1, GAME)
        games["episode_stream"] = seed
        tally = np.zeros(4)
        traces = no_traces(weights), no_traces(weights)
        play_and_learn(games, EPISODES.index(episode), 1, weights, traces, 0.02, td_lambda, tally)
        assert tally[0] == (10 if episode == "deal" else 8)  # two discards are one move
        a_deal_learned_slowly(slow, episode, seed, 0.02, td_lambda)
        before = new_agent("bits", (6,), seed).state_dict()
        for key, tensor in slow.state_dict().items():
            torch.testing.assert_close(fast.state_dict()[key], tensor, rtol=1e-3, atol=1e-4)
            assert (tensor != before[key]).any()


def test_targets_by_hand():
    """Two players: the first moves four times, the second once."""
    rewards = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    ends = np.array([False, False, False, True, True])
    assert targets_of(rewards, ends, np.array([99.0, 10.0, 20.0, 30.0, 99.0])).tolist() == [11, 22, 33, 4, 5]


def test_two_discards_are_one_move_and_earn_the_show():
    n = 5
    decisions = Decisions(
        inputs=np.zeros((n, 209), np.int8),
        gains=np.zeros((n, 52), np.float32),
        card=np.zeros(n, np.int64),
        chain=np.array([0, 0, 0, 1, 1]),
        is_discard=np.array([True, True, False, True, True]),
        points=np.zeros(n),
        settled=np.array([9.0, 8.0, 10.0, 5.0, 5.0]),
        final_points=np.zeros(n),
        final_settled=np.array([11.0, 11.0, 11.0, 4.0, 4.0]),
    )
    moves = moves_of(decisions)
    rewards, ends = rewards_of_moves(decisions, moves)
    assert moves.tolist() == [1, 2, 4]
    assert rewards.tolist() == [10, 1, 4]
    assert ends.tolist() == [False, True, True]


def test_rewards_of_real_deals_add_up_and_values_are_in_order():
    agent = new_agent()
    explorer = Explorer(agent, 0.3, np.random.default_rng(0))
    batch = GameBatch(streams(0, 200), episode="deal", skip_forced=True)
    decisions = play_episodes(batch, explorer, None, the_bits)
    moves = moves_of(decisions)
    rewards, ends = rewards_of_moves(decisions, moves)
    totals = np.bincount(decisions.chain[moves], rewards)
    np.testing.assert_allclose(totals[decisions.chain], decisions.final_settled)
    assert ends.sum() == 400
    values = explorer.values()
    best, expected = agent.look_ahead(decisions.inputs, decisions.gains > -np.inf, decisions.is_discard)
    np.testing.assert_allclose(values, expected, atol=1e-5)
    assert 0.15 < (decisions.card != best).mean() < 0.3


def test_it_uses_the_bits_and_the_mask_alone():
    for inputs in ("bits", "features"):
        agent = new_agent(inputs)
        for batch, rows in positions(40):
            views = batch.views(rows)
            nothing = {name: np.zeros_like(getattr(views, name)) for name in ("laid_by", "scores", "count")}
            cards = agent.act(views)
            np.testing.assert_array_equal(agent.act(replace(views, **nothing)), cards)
            assert views.action_mask[np.arange(len(rows)), cards].all()
            assert [agent.act(views[k : k + 1])[0] for k in range(5)] == cards[:5].tolist()


def test_discards_do_not_depend_on_the_names_of_suits():
    agent = new_agent()
    views = GameBatch(streams(0, 200)).views(np.arange(200))
    order = np.array([2, 0, 3, 1])
    swapped = views.observation.copy()
    for old, new in enumerate(order):
        swapped[:, 1 + 13 * new : 14 + 13 * new] = views.observation[:, 1 + 13 * old : 14 + 13 * old]
    mask = swapped[:, 1:53].copy()
    discarding = np.ones(200, bool)
    _, values = agent.look_ahead(views.observation, views.action_mask, discarding)
    _, again = agent.look_ahead(swapped, mask, discarding)
    np.testing.assert_allclose(values, again, atol=1e-5)


@pytest.mark.slow
def test_the_default_beats_greedy(tmp_path):
    settings = replace(PRESETS["default"], episodes=200_000, evaluations=0)
    agent, _ = new_run(td, settings, tmp_path)
    assert play_match(agent, make_agent("greedy"), 10_000).interval[0] > 0.56
    assert play_match(agent, make_agent("random"), 10_000).interval[0] > 0.98


@pytest.mark.slow
def test_the_papers_settings_gain_what_the_paper_says(tmp_path):
    """Around 4 points more than a random player in two deals, after 1,000,000; a quarter of them for the test."""
    agent, _ = new_run(td, replace(PRESETS["paper"], episodes=250_000, evaluations=0), tmp_path)
    result = play_match(agent, make_agent("random"), 5_000)
    assert 2 * result.margin_interval[0] / result.deals_per_game > 2.5
