"""The response to one opponent: standings by hand, advantages, the policy's step, and that it learns and goes on."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from agents import make_agent
from agents.best import SHIPPED, BestAgent
from agents.best_inputs import N_PLAY_INPUTS
from crib_env.batch import GameBatch
from crib_env.engine import OVER, PLAY, WIN
from crib_env.exact.standard import standard_board
from crib_env.kernels import streams
from crib_env.scoring import show_points
from tests.learner_runs import new_run, run, stopped_run
from train import response
from train.response import PRESETS, Response
from train.response_deals import (
    N_HIDDEN,
    Choices,
    advantages,
    legal_log_chances,
    play_deals,
    point_worth,
    standings,
)
from train.run import run_learner
from train.run_folder import RunFolder

SMALL = replace(
    PRESETS["default"],
    opponent="greedy",
    hidden_critic=(16,),
    episodes=256,
    episodes_at_once=64,
    warm_up=64,
    batch_size=32,
    evaluations=1,
    evaluation_games=20,
    final_games=20,
    checkpoint_seconds=0.0,
)


def deals(n=64, seed=0, **options):
    return GameBatch(streams(seed, n), episode="deal", **{"start_spread": 40, "skip_forced": True, **options})


def choices(ranks, legal=(3, 7), gains_of=None):
    """Decisions among these ranks, all in one position, each of a player of its own."""
    n = len(ranks)
    mask = np.zeros((n, 13), np.bool_)
    mask[:, list(legal)] = True
    return Choices(
        seen=np.ones((n, N_PLAY_INPUTS), np.int8),
        hidden=np.zeros((n, N_HIDDEN), np.float32),
        legal=mask,
        rank=np.array(ranks),
        log_chance=np.full(n, -np.log(len(legal)), np.float32),
        chain=np.arange(n),
        standing=np.zeros(n),
        final=np.zeros(n) if gains_of is None else np.array([gains_of[rank] for rank in ranks]),
    )


def indifferent(**changes):
    """A learner whose policy lays every legal rank alike: only the last layer's bias is not zero, and learns."""
    torch.manual_seed(0)
    agent = BestAgent((8,), (8,))
    for parameter in agent.play.parameters():
        torch.nn.init.zeros_(parameter)
    return Response(agent, replace(SMALL, temperature=1.0, **changes))


# --- how a deal stands ----------------------------------------------------------------------------------------------


def plain_chance(g, seat):
    """The chance to win of a deal that comes to the show now, counted in order."""
    board, dealer = standard_board().win_probability, int(g["dealer"])
    scores, cut = [int(score) for score in g["scores"]], int(g["cards"][12])
    crib = int(g["discards"][0] | g["discards"][1])
    if g["phase"] != OVER:
        for player, cards, is_crib in (
            (1 - dealer, int(g["kept"][1 - dealer]), False),
            (dealer, int(g["kept"][dealer]), False),
            (dealer, crib, True),
        ):
            if max(scores) < WIN:
                scores[player] += show_points(cards, cut, is_crib)
    if max(scores) >= WIN:
        return float(scores[seat] >= WIN)
    next_dealer = 1 - dealer
    chance = board[scores[next_dealer], scores[dealer]]
    return chance if seat == next_dealer else 1 - chance


def test_standings_are_those_of_a_plain_count():
    batch = deals(400, start_spread=120, skip_forced=False)
    seen = set()
    worth = point_worth(batch.games)
    for step in range(13):
        games = batch.games
        rows = np.flatnonzero((games["phase"] == PLAY) | (games["phase"] == OVER))
        for seat in range(2):
            held, chances = standings(games, rows, np.full(len(rows), seat))
            for b in range(0, len(rows), 7):
                g = games[rows[b]].copy()
                factor = worth[rows[b]]
                assert chances[b, 0] * factor == pytest.approx(plain_chance(g, seat))
                counts = np.bincount([c % 13 for c in range(52) if int(g["hand"][1 - seat]) >> c & 1], minlength=13)
                assert held[b].tolist() == counts.tolist()
                seen.add((step, int(g["phase"])))
                if g["phase"] == PLAY:
                    g["scores"][seat] += 1
                    assert chances[b, 1] * factor == pytest.approx(plain_chance(g, seat))
                    g["scores"][seat] -= 1
                    g["scores"][1 - seat] += 1
                    assert chances[b, 2] * factor == pytest.approx(plain_chance(g, seat))
        if len(active := batch.acting()):
            batch.step(active, batch.native_cards(active, 0))
    assert {phase for _, phase in seen} == {PLAY, OVER}


def test_a_point_is_worth_most_where_the_game_is_close_to_its_end():
    games = np.concatenate([deals(1, scores=scores).games for scores in ((0, 0), (110, 110), (5, 115))])
    start, close, lost = point_worth(games)
    assert 0.01 < start < close
    assert lost == pytest.approx(0.01)


def test_what_is_earned_adds_up_to_what_was_pegged():
    """From a player's first decision to the end of the deal only pegged points move its standing."""
    batch = deals(300, start_spread=None)
    found = play_deals(batch, make_agent("best"), None, 0.2, np.random.default_rng(0))
    pegged = batch.tally[:, :, :, 0].sum(axis=2)
    net = np.stack([pegged[:, 0] - pegged[:, 1], pegged[:, 1] - pegged[:, 0]], axis=1).reshape(-1)
    first = np.flatnonzero(np.diff(found.chain, prepend=-1))
    earned = found.final[first] - found.standing[first]
    slope = np.polyfit(net[found.chain[first]], earned, 1)[0]
    assert 0.8 < slope < 1.2  # in points' worth
    assert np.corrcoef(net[found.chain[first]], earned)[0, 1] > 0.85


# --- what is learned from -------------------------------------------------------------------------------------------


def test_advantages_by_hand():
    found = replace(
        choices([3, 3, 7]),
        chain=np.array([4, 4, 9]),
        standing=np.array([1.0, 3.0, 10.0]),
        final=np.array([2.0, 2.0, 11.0]),
    )
    values = np.array([0.5, -0.25, 2.0])
    last = 2.0 - 3.0 - -0.25
    first = (3.0 - 1.0) + (-0.25 - 0.5) + 0.9 * last
    np.testing.assert_allclose(advantages(found, values, 0.9), [first, last, 11.0 - 10.0 - 2.0])


def test_without_decay_advantages_are_what_was_earned_less_what_was_expected():
    found = play_deals(deals(50), make_agent("best"), None, 0.2, np.random.default_rng(1))
    values = np.random.default_rng(2).normal(size=len(found))
    np.testing.assert_allclose(advantages(found, values, 1.0), found.final - found.standing - values, atol=1e-9)


def test_decisions_are_those_of_the_learners_seat():
    batch = deals(100)
    found = play_deals(batch, make_agent("best"), make_agent("greedy"), 0.2, np.random.default_rng(0))
    games, seats = found.chain // 2, found.chain % 2
    assert (seats == games % 2).all()
    assert (np.diff(found.chain) >= 0).all()
    assert len(batch.acting()) == 0
    assert (found.legal.sum(axis=1) > 1).all()
    assert found.legal[np.arange(len(found)), found.rank].all()
    both = play_deals(deals(100), make_agent("best"), None, 0.2, np.random.default_rng(0))
    assert set(both.chain % 2) == {0, 1}


def test_a_colder_policy_is_nearer_to_the_best_card():
    values = torch.tensor([[1.0, 2.0, 5.0]])
    legal = torch.tensor([[True, True, False]])
    warm, cold = (legal_log_chances(values, legal, temperature).exp() for temperature in (1.0, 0.1))
    np.testing.assert_allclose(warm[0], [1 / (1 + np.e), np.e / (1 + np.e), 0.0], rtol=1e-5)
    assert cold[0, 1] > 0.999
    found = play_deals(deals(200), make_agent("best"), None, 1e-3, np.random.default_rng(0))
    agent = make_agent("best")
    values = agent.play(torch.from_numpy(found.seen).float()).detach().numpy()
    best = np.where(found.legal, values, -np.inf).argmax(axis=1)
    assert (best == found.rank).mean() > 0.98


# --- the policy's step ----------------------------------------------------------------------------------------------


def test_a_step_of_the_policy_by_hand():
    """With ratio 1 the gradient of a rank's value is its chance less how often it was laid, times the gain."""
    learner = indifferent()
    loss = learner.learn_ranks(choices([3, 7]), np.array([1.0, -0.5], np.float32), 0.01)
    assert loss == pytest.approx(-0.25)
    bias = learner.agent.play[-1].bias
    by_hand = (1.0 * (0.5 - 1.0) - 0.5 * 0.5) / 2  # rank 3: laid in the first, not in the second
    np.testing.assert_allclose(bias.grad[[3, 7, 9]], [by_hand, -by_hand, 0.0], atol=1e-6)
    assert bias[3].item() == pytest.approx(0.01, rel=1e-3)  # Adam's first step is the rate
    assert bias[9].item() == 0.0


def test_no_gradient_flows_beyond_the_clip():
    learner = indifferent()
    found = choices([3])
    far = replace(found, log_chance=found.log_chance - np.float32(np.log(1.3)))  # is 1.3 times as likely as it was
    learner.learn_ranks(far, np.ones(1, np.float32), 0.01)
    assert learner.agent.play[-1].bias.abs().sum() == 0.0
    learner.learn_ranks(far, -np.ones(1, np.float32), 0.01)  # to come back is never forbidden
    assert learner.agent.play[-1].bias[3] < 0.0


def test_solves_a_choice_of_two():
    """Rank 7 earns a point, rank 3 nothing: the critic learns the mean, the policy lays rank 7."""
    learner, rng = indifferent(epochs=1), np.random.default_rng(0)
    for _ in range(200):
        chance = legal_log_chances(learner.agent.play(torch.ones(1, N_PLAY_INPUTS)), torch.ones(1, 13) > 0, 1.0)
        share = torch.softmax(chance[0, [3, 7]], dim=0)[1].item()
        laid = np.where(rng.random(64) < share, 7, 3)
        found = choices(laid, gains_of={3: 0.0, 7: 1.0})
        chances = np.where(laid == 7, share, 1 - share)
        learner.learn(replace(found, log_chance=np.log(chances).astype(np.float32)), 0.05, True, rng)
    assert share > 0.95


def test_while_it_warms_up_only_the_critic_learns():
    learner = indifferent()
    before = {name: tensor.clone() for name, tensor in learner.tensors().items()}
    values = learner.learn(choices([3, 7, 7], gains_of={3: 0.0, 7: 1.0}), 0.01, False, np.random.default_rng(0))
    assert "learning/policy loss" not in values
    changed = {
        name.split(".")[0] for name, tensor in learner.tensors().items() if not tensor.equal(before.get(name, tensor))
    }
    assert changed == {"critic"}


def test_a_loss_that_is_not_finite_stops():
    learner = indifferent()
    with pytest.raises(FloatingPointError, match="network 'play'"):
        learner.learn_ranks(choices([3]), np.array([np.nan], np.float32), 0.01)
    with pytest.raises(FloatingPointError, match="the critic"):
        learner.learn_values(choices([3]), np.array([np.inf], np.float32), 0.01)


# --- a run ----------------------------------------------------------------------------------------------------------


def test_a_run_and_its_agent(tmp_path):
    torch.set_num_threads(1)
    folder = RunFolder.create("response", SMALL, tmp_path)
    run_learner(response, SMALL, folder)
    summary = json.loads((folder.path / "summary.json").read_text())
    assert summary["episodes"] == 256
    agent, start = make_agent(str(folder.path)), BestAgent.load(SHIPPED)
    for name, tensor in agent.tensors().items():
        assert tensor.equal(start.tensors()[name]) == name.startswith("discard"), name


@pytest.mark.parametrize("opponent", ["greedy", "self"])
def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path, opponent):
    settings = replace(SMALL, opponent=opponent)
    whole, _ = new_run(response, settings, tmp_path / "whole")
    folder = stopped_run(response, settings, tmp_path / "stopped", 128)
    resumed, _ = run(response, settings, folder)
    for name, tensor in whole.tensors().items():
        assert tensor.equal(resumed.tensors()[name]), name


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": 0.0}, "temperature=0.0 is not allowed"),
        ({"trace": 1.5}, "trace=1.5 is not allowed"),
        ({"batch_size": 0}, "batch_size=0 is not allowed"),
        ({"opponent": "nobody"}, "there is no agent 'nobody'"),
        ({"start": "greedy"}, "start='greedy' is not allowed"),
    ],
)
def test_bad_settings_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **changes)


@pytest.mark.slow
def test_learns_to_gain_on_greedy(tmp_path):
    """Sixteen rounds from weights that know nothing of the play."""
    torch.manual_seed(0)
    BestAgent((64, 64), (16,)).save(tmp_path / "new.safetensors")
    settings = replace(
        SMALL,
        start=f"best:{tmp_path / 'new.safetensors'}",
        temperature=1.0,
        hidden_critic=(64, 64),
        learning_rate=1e-3,
        episodes=40_960,
        episodes_at_once=2_048,
        warm_up=0,
        batch_size=256,
    )
    rng = np.random.default_rng(0)

    def net(agent):
        batch = deals(4_000, seed=9, start_spread=None)
        play_deals(batch, agent, make_agent("greedy"), 0.05, rng)
        return response._net_pegging(batch)

    before = net(make_agent(settings.start))
    after, _ = new_run(response, settings, tmp_path)
    assert net(after) > before + 0.3
