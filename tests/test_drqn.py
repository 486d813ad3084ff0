"""DRQN: its update rule by hand, its pieces by hand, what it remembers and forgets, that it learns and continues."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from crib_env.agents.networks.drqn import DRQNAgent, RecurrentMemory, players
from crib_env.agents.networks.seen import Seen
from crib_env.batch import GameBatch
from crib_env.engine import DISCARD
from crib_env.kernels import streams
from crib_env.train.drqn import DRQN, Sequences, explore, sequences_of
from crib_env.train.shared.experience import Decisions, play_episodes, rewards_of
from tests.helpers.small_settings import DRQN as SMALL
from tests.helpers.small_settings import DRQN_GAMES as GAMES

KIND = {
    "networks": "split",
    "observation": "209",
    "memory": 8,
    "hidden": (16,),
    "direct": True,
    "inputs": "ranks",
    "lasts": "game",
    "skip_forced": False,
}


def new_agent(**changes):
    torch.manual_seed(0)
    return DRQNAgent.new(**(KIND | changes))


def new_learner(**changes):
    settings = replace(SMALL, **changes)
    torch.manual_seed(0)
    learner = DRQN(settings)
    for parameter in learner.target.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return learner


def some_decisions(n=16, agent=None, **options):
    agent = agent or new_agent()
    batch = GameBatch(streams(0, n), **({"episode": "deal"} | options))
    return play_episodes(batch, explore(agent, 0.3, np.random.default_rng(0), n), None, agent.inputs.of_games)


def pieces_of(decisions, settings):
    rewards, ends = rewards_of(decisions, settings.rewards == "settled")
    return sequences_of(decisions, rewards, ends, settings.burn_in, settings.length, settings.gamma)


def make_constant(network, values):
    """Lets a network give these 52 values whatever it sees."""
    for parameter in network.parameters():
        torch.nn.init.zeros_(parameter)
    for layers in network.layers.values():
        layers.cards.bias.data = torch.tensor(values, dtype=torch.float32)


def test_targets_take_the_online_choice_at_the_target_networks_value_among_legal_cards():
    learner = new_learner(networks="one", length=2, inputs="bits")
    online, target = np.zeros(52), np.zeros(52)
    online[[1, 3, 7, 9]] = 0.5, 5.0, 2.0, 9.0  # 9 is the best card, but not legal; of the legal ones 3 is
    target[[1, 3, 7, 9]] = 0.7, 10.0, 20.0, 40.0  # a plain maximum would take 20 or even 40
    make_constant(learner.agent.network, online)
    make_constant(learner.target, target)
    batch = Sequences.zeros(2, 3, 209)
    batch.gains[:], batch.card[:] = -np.inf, 1
    batch.gains[0, 0, 1] = batch.gains[1, 0, 1] = 0
    batch.gains[0, 1:, [1, 3, 7]] = 0
    batch.reward[0] = 1.5, 2.5, 99.0  # the third decision only says what the second leads to
    batch.discount[0] = 0.5, 0.5, 0.5
    batch.reward[1, 0] = -2.0  # here the chain ends at once
    values, targets = learner.values_and_targets(batch)
    assert values.tolist() == [0.5] * 3
    assert targets.tolist() == [1.5 + 0.5 * 10.0, 2.5 + 0.5 * 10.0, -2.0]


def loss_decision_by_decision(learner, batch):
    """The loss of a batch in plain loops: one decision of one piece after the other; no gradient into the burn-in."""
    settings, squares = learner.settings, []
    networks = learner.agent.network, learner.target
    for piece in range(len(batch)):
        states, values = [None, None], []
        for k in range(settings.burn_in + settings.length + 1):
            if (batch.gains[piece, k] > -np.inf).any():
                here = batch[piece : piece + 1, k]
                inputs, is_discard = torch.from_numpy(here.inputs).float(), torch.from_numpy(here.is_discard)
                both = []
                for n, network in enumerate(networks):
                    remembered, states[n] = network.remember(inputs[:, None], states[n])
                    if k < settings.burn_in:
                        states[n] = states[n].detach()
                    outputs = network.values(inputs, remembered[:, 0], is_discard)[0]
                    both.append(outputs + torch.from_numpy(here.gains[0]))
                values.append((k, here.card[0], *both))
        for (k, card, online, _), following in zip(values, [*values[1:], None]):
            if settings.burn_in <= k < settings.burn_in + settings.length:
                target = torch.tensor(batch.reward[piece, k])
                if batch.discount[piece, k]:
                    target = target + batch.discount[piece, k] * following[3][following[2].argmax()].detach()
                squares.append((target - online[card]) ** 2)
    return torch.stack(squares).mean()


@pytest.mark.parametrize(
    "changes", [{}, GAMES, GAMES | {"networks": "one", "direct": False, "inputs": "bits"}], ids=str
)
def test_a_step_is_the_one_of_plain_loops(changes):
    learner = new_learner(gamma=0.9, **changes)
    pieces = pieces_of(some_decisions(agent=learner.agent, episode=learner.settings.episode), learner.settings)
    batch = pieces[np.arange(0, len(pieces), 5)]
    twin = copy.deepcopy(learner.agent.network)
    optimizer = torch.optim.Adam(twin.parameters(), lr=1e-3)
    loss = loss_decision_by_decision(learner, batch)
    for parameter, gradient in zip(
        twin.parameters(), torch.autograd.grad(loss, tuple(learner.agent.network.parameters()))
    ):
        parameter.grad = gradient
    torch.nn.utils.clip_grad_norm_(twin.parameters(), 10.0)
    optimizer.step()

    assert learner.update(batch, 1e-3)["loss"] == pytest.approx(loss.item(), rel=1e-4)
    for one, two in zip(learner.agent.network.parameters(), twin.parameters()):
        torch.testing.assert_close(one, two, rtol=1e-3, atol=3e-5)


def test_the_target_network_follows_from_time_to_time():
    learner = new_learner(target_sync=2)
    batch = pieces_of(some_decisions(), learner.settings)[np.arange(8)]
    for followed in (False, True, False):
        learner.update(batch, 1e-3)
        same = [torch.equal(a, b) for a, b in zip(learner.agent.network.parameters(), learner.target.parameters())]
        assert all(same) == followed


def test_pieces_by_hand():
    """One player decides five times, the next once; two decisions are learned in a piece, one is burnt in."""
    n = 6
    decisions = Decisions(
        inputs=np.zeros((n, 209), np.int8),
        gains=np.zeros((n, 52), np.float32),
        card=np.zeros(n, np.int64),
        chain=np.array([0, 0, 0, 0, 0, 1]),
        is_discard=np.array([True, True, False, False, False, True]),
        points=np.zeros(n),
        settled=np.zeros(n),
        final_points=np.zeros(n),
        final_settled=np.zeros(n),
    )
    ends = np.array([False, False, False, False, True, True])
    pieces = sequences_of(decisions, np.arange(1.0, 7.0), ends, 1, 2, 0.5)
    assert pieces.reward.tolist() == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 0, 0], [0, 6, 0, 0]]
    assert (pieces.gains > -np.inf).any(axis=2).tolist() == (pieces.reward > 0).tolist()
    assert pieces.discount.tolist() == [[0, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0], [0.5, 0, 0, 0], [0, 0, 0, 0]]
    assert pieces.is_discard[0].tolist() == [False, True, True, False]


@pytest.mark.parametrize("changes", [{}, GAMES], ids=str)
def test_every_decision_is_learned_once(changes):
    settings = replace(SMALL, **changes)
    decisions = some_decisions(episode=settings.episode)
    pieces = pieces_of(decisions, settings)
    learned = slice(settings.burn_in, settings.burn_in + settings.length)
    is_real = (pieces.gains[:, learned] > -np.inf).any(axis=2)
    assert is_real.sum() == len(decisions.card)
    assert sorted(map(bytes, pieces.inputs[:, learned][is_real])) == sorted(map(bytes, decisions.inputs))


def test_a_player_has_one_number_through_a_game():
    batch, seats = GameBatch(streams(3, 50)), {}
    while len(rows := batch.acting()):
        for player, row, seat in zip(players(batch.views(rows)), rows, batch.games["turn"][rows]):
            assert player // 2 == batch.game_ids[row]
            assert seats.setdefault(player, seat) == seat
        batch.step(rows, batch.native_cards(rows, 0))
    assert len(seats) == 100


@pytest.mark.parametrize(
    "kind",
    [{}, {"lasts": "deal"}, {"skip_forced": True}, {"direct": False, "inputs": "bits", "networks": "one"}],
    ids=str,
)
def test_memory_carried_is_the_network_run_over_the_whole_sequence_at_once(kind):
    """One object plays both seats of whole games; every choice is that of a run over all that its player has seen."""
    agent = new_agent(**kind)
    batch = GameBatch(streams(1, 5), skip_forced=agent.about["skip_forced"])
    seen = {}
    while len(rows := batch.acting()):
        views = batch.views(rows)
        cards = agent.act(views)
        for b, row in enumerate(rows):
            deal = views.decisions[b] // 12 if agent.about["lasts"] == "deal" else 0
            here = agent.inputs.of_views(views[b : b + 1])
            card = here.named(cards[b : b + 1])[0]
            decision = here.inputs[0], here.gains[0], batch.games["phase"][row] == DISCARD, card
            seen.setdefault((row, batch.games["turn"][row], deal), []).append(decision)
        batch.step(rows, cards)
    assert max(map(len, seen.values())) > (5 if agent.about["lasts"] == "deal" else 40)
    for decisions in seen.values():
        inputs, gains, discards, cards = (np.array(column) for column in zip(*decisions))
        inputs = torch.from_numpy(inputs).float()
        with torch.no_grad():
            remembered, _ = agent.network.remember(inputs[None])
            values = agent.network.values(inputs, remembered[0], torch.from_numpy(discards))
        assert (values + torch.from_numpy(gains)).argmax(dim=1).tolist() == cards.tolist()


def test_forced_cards_are_not_remembered_when_training_leaves_them_out():
    """Between two real choices a game looks the same whether the batch or the agent lays the forced cards."""
    games = []
    for skip_forced in (True, False):
        batch, agent = GameBatch(streams(2, 100), skip_forced=skip_forced), new_agent(skip_forced=True)
        while len(rows := batch.acting()):
            batch.step(rows, agent.act(batch.views(rows)))
        games.append(batch.games)
    np.testing.assert_array_equal(*games)


def test_asked_twice_it_answers_the_same_and_a_new_game_starts_at_zero():
    agent = new_agent()
    memory = agent._memory
    batch = GameBatch(streams(4, 60))
    for _ in range(20):
        views = batch.views(batch.acting())
        cards = agent.act(views)
        assert (agent.act(views) == cards).all()
        alone = [agent.act(views[k : k + 1])[0] for k in range(len(views))]
        assert alone == cards.tolist()
        batch.step(batch.acting(), cards)
    assert memory.recall(batch.views(batch.acting())).any(axis=(1, 2)).all()
    again = GameBatch(streams(5, 60))  # other games under the same numbers
    assert not memory.recall(again.views(again.acting())).any()


def test_games_that_are_alike_are_computed_once(monkeypatch):
    agent, computed = new_agent(), []
    choose = agent.choose

    def counted(seen, *rest):
        computed.append(len(seen.inputs))
        return choose(seen, *rest)

    monkeypatch.setattr(agent, "choose", counted)
    batch = GameBatch(streams(7, 40))
    for _ in range(12):
        views = batch.views(batch.acting())
        cards = agent.act(views)
        order = np.random.default_rng(0).permutation(np.arange(80) % 40)
        twice = replace(views[order], game_ids=1000 + np.arange(80))
        assert (agent.act(twice) == cards[order]).all()
        assert computed[-2:] == [40, 40]
        batch.step(batch.acting(), cards)


def test_the_games_unused_for_longest_are_forgotten(monkeypatch):
    monkeypatch.setattr("crib_env.agents.networks.drqn._MOST_PLAYERS", 20)
    memory, batch = RecurrentMemory(4, "game"), GameBatch(streams(6, 30))
    views = batch.views(batch.acting())

    def remembers(rows):
        later = replace(views[rows], decisions=views.decisions[rows] + 1)
        states = memory.recall(later)
        memory.keep(later, states, states)
        return states.any(axis=(1, 2)).tolist()

    def remember(rows):
        memory.keep(views[rows], memory.recall(views[rows]), np.ones((len(rows), 2, 4), np.float32))

    remember(np.arange(20))
    assert remembers(np.arange(5)) == [True] * 5  # these are asked for again, so that 5 … 9 are the oldest
    remember(np.arange(20, 25))
    assert len(memory) == 20
    assert remembers(np.arange(20, 25)) == [True] * 5
    assert remembers(np.arange(5)) == [True] * 5
    assert remembers(np.arange(10, 20)) == [True] * 10
    assert remembers(np.arange(5, 10)) == [False] * 5
    remember(np.arange(30))  # a batch is never cut
    assert remembers(np.arange(30)) == [True] * 30


def test_it_learns_a_task_that_needs_memory():
    """The first decision shows a bit and pays nothing; the second, which looks the same either way, must tell it."""
    learner = new_learner(networks="one", length=2, hidden=(16,), memory=16, inputs="bits", target_sync=20)
    rng = np.random.default_rng(0)
    for _ in range(300):
        batch = Sequences.zeros(32, 3, 209)
        bit, card = rng.integers(2, size=(2, 32))
        batch.gains[:] = -np.inf
        batch.inputs[np.arange(32), 0, 105 + bit] = 1
        batch.gains[:, 0, 20] = 0
        batch.gains[:, 1, :2] = 0
        batch.card[:, 0], batch.card[:, 1] = 20, card
        batch.reward[:, 1] = bit == card
        batch.discount[:, 0] = 1.0
        learner.update(batch, 5e-3)
    states = np.zeros((32, 2, 16), np.float32)
    cards, states = learner.agent.choose(Seen(batch.inputs[:, 0], batch.gains[:, 0]), np.zeros(32, bool), states)
    assert (cards == 20).all()
    cards, _ = learner.agent.choose(Seen(batch.inputs[:, 1], batch.gains[:, 1]), np.zeros(32, bool), states)
    np.testing.assert_array_equal(cards, bit)
