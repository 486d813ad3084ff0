"""The response to one opponent: chances when a deal is over, play-outs by a plain loop, its loss, that it learns."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from agents import make_agent
from agents.best import BestAgent
from agents.best_inputs import N_PLAY_INPUTS, play_inputs
from crib_env.batch import GameBatch
from crib_env.engine import OVER, PLAY, WIN
from crib_env.exact.standard import standard_board
from crib_env.kernels import streams
from tests.learner_runs import new_run, run, stopped_run
from train import response
from train.response import PRESETS, Response, centred_square
from train.response_deals import PlayedOut, chances_to_win, play_and_ask, play_out, point_worth, throw
from train.run import run_learner
from train.run_folder import RunFolder

SMALL = replace(
    PRESETS["default"],
    opponent="greedy",
    episodes=256,
    episodes_at_once=64,
    memory=300,
    batch_size=32,
    evaluations=1,
    evaluation_games=20,
    final_games=20,
    checkpoint_seconds=0.0,
    precision="float32",
)


def deals(n=64, seed=0, **options):
    return GameBatch(streams(seed, n), episode="deal", **{"start_spread": 40, "skip_forced": True, **options})


def new_agent(seed=0, hidden=(16,)):
    torch.manual_seed(seed)
    return BestAgent(hidden, (8,))


def answers(chances, weight=1.0):
    """As many decisions, all in one position."""
    n = len(chances)
    seen = np.packbits(np.ones((n, N_PLAY_INPUTS), np.int8), axis=1)
    return PlayedOut(seen, np.array(chances, np.float32), np.full(n, weight, np.float32))


# --- what a deal comes to -------------------------------------------------------------------------------------------


def test_chances_when_a_deal_is_over():
    batch = deals(200, start_spread=120, skip_forced=False)
    board = standard_board().win_probability.astype(np.float64)
    while len(rows := batch.acting()):
        batch.step(rows, batch.native_cards(rows, 0))
    ended = 0
    for seat in range(2):
        chances = chances_to_win(batch.games, np.full(200, seat))
        for g, chance in zip(batch.games, chances):
            own, other = int(g["scores"][seat]), int(g["scores"][1 - seat])
            if max(own, other) >= WIN:
                ended += 1
                assert chance == 100.0 * (own >= WIN)
            elif g["dealer"] == seat:  # the opponent deals next
                assert chance == pytest.approx(100 - 100 * board[other, own])
            else:
                assert chance == pytest.approx(100 * board[own, other])
    assert 20 < ended < 380


def test_a_point_is_worth_most_where_the_game_is_close_to_its_end():
    games = np.concatenate([deals(1, scores=scores).games for scores in ((0, 0), (110, 110), (5, 115))])
    start, close, lost = point_worth(games)
    assert 1.5 < start < 2.5
    assert close > 2 * start
    assert lost < 0.5


def test_copies_go_on_without_their_originals():
    batch = deals(3)
    before = batch.games.copy()
    twice = batch.copies(np.array([2, 0, 2]))
    assert (twice.games == before[[2, 0, 2]]).all()
    assert twice.game_ids.tolist() == [2, 0, 2]
    while len(rows := twice.acting()):
        twice.step(rows, twice.native_cards(rows, 0))
    assert (batch.games == before).all()
    assert batch.tally.sum() == 0
    assert (twice.games[0]["scores"] == twice.games[2]["scores"]).all()


def test_play_outs_are_those_of_a_plain_loop():
    """Each answer is what becomes of the deal when that rank is laid and both go on by what they think best."""
    agent, opponent, n = new_agent(), make_agent("greedy"), 12
    found = play_and_ask(deals(n, seed=3), agent, opponent, 0.0, np.random.default_rng(0))
    by_position = {bytes(seen): chances for seen, chances in zip(found.seen, found.chances)}
    batch, seats, met = deals(n, seed=3), np.arange(n) % 2, 0
    throw(batch, seats, agent, opponent)
    while len(rows := batch.acting()):
        cards = np.empty(len(rows), np.int64)
        for b, row in enumerate(rows):
            views, seat = batch.views(rows[b : b + 1]), seats[row]
            cards[b] = (agent if batch.games["turn"][row] == seat else opponent).act(views)[0]
            if batch.games["turn"][row] != seat:
                continue
            chances = by_position[bytes(np.packbits(play_inputs(views), axis=1)[0])]
            ranks = {card % 13 for card in views.action_mask[0].nonzero()[0]}
            assert {rank for rank in range(13) if chances[rank] >= 0} == ranks
            for rank in ranks:
                card = next(c for c in range(rank, 52, 13) if views.action_mask[0, c])
                branch = batch.copies(np.array([row]))
                branch.step(np.array([0]), np.array([card]))
                while len(branch.acting()):
                    own = branch.games["turn"][0] == seat
                    branch.step(np.array([0]), (agent if own else opponent).act(branch.views(np.array([0]))))
                expected = chances_to_win(branch.games, seats[[row]])[0]
                assert chances[rank] == pytest.approx(expected, abs=1e-4)
                met += 1
        batch.step(rows, cards)
    assert met == (found.chances >= 0).sum() > 40


def test_decisions_are_real_choices_of_the_learner():
    batch = deals(100)
    found = play_and_ask(batch, new_agent(), make_agent("greedy"), 0.5, np.random.default_rng(0))
    assert (batch.games["phase"] == OVER).all()
    assert ((found.chances >= 0).sum(axis=1) > 1).all()
    assert found.chances.max() <= 100
    assert ((found.weight > 0) & (found.weight <= 1)).all()
    assert found.weight.min() < 0.5  # some deals begin close to the end


def test_discards_come_first_and_are_what_both_think_best():
    batch, agent = deals(50), new_agent()
    seats = np.arange(50) % 2
    throw(batch, seats, agent, make_agent("greedy"))
    assert (batch.games["phase"] == PLAY).all()
    play_out(batch, seats, agent, make_agent("greedy"))
    assert (batch.games["phase"] == OVER).all()


# --- the loss -------------------------------------------------------------------------------------------------------


def test_loss_by_hand():
    # chances 10 and 13: 1.5 below and above their mean; values 5 and 4: 0.5 above and below theirs
    values, chances = torch.tensor([[5.0, 99.0, 4.0]] * 2), torch.tensor([[10.0, -1.0, 13.0], [50.0, -1.0, 49.0]])
    loss = centred_square(values, chances, torch.tensor([1.0, 0.25]))
    assert loss.item() == pytest.approx((2 * 2.0**2 + 0.25 * 0.0) / 2)


def test_what_cannot_be_laid_has_no_gradient():
    values = torch.zeros(1, 3, requires_grad=True)
    centred_square(values, torch.tensor([[10.0, -1.0, 12.0]]), torch.ones(1)).backward()
    np.testing.assert_allclose(values.grad[0], [2.0, 0.0, -2.0])


def test_learns_the_mean_of_noisy_answers():
    """Rank 3 makes 10 in one deal of five, rank 7 always 3: the mean is what counts, not the usual."""
    learner = Response(new_agent(), SMALL)
    chances = np.full((5, 13), -1.0)
    chances[:, 3], chances[:, 7] = [10, 0, 0, 0, 0], 3
    for _ in range(1_200):
        learner.update(answers(chances), 1e-3)
    values = learner.agent.play(torch.ones(1, N_PLAY_INPUTS))[0]
    assert (values[7] - values[3]).item() == pytest.approx(1.0, abs=0.1)


def test_a_loss_that_is_not_finite_stops():
    learner = Response(new_agent(), SMALL)
    with pytest.raises(FloatingPointError, match="network 'play'"):
        learner.update(answers(np.full((1, 13), np.nan)), 0.01)


# --- a run ----------------------------------------------------------------------------------------------------------


def test_a_run_and_its_agent(tmp_path):
    folder = RunFolder.create("response", SMALL, tmp_path)
    run_learner(response, SMALL, folder)
    summary = json.loads((folder.path / "summary.json").read_text())
    assert summary["episodes"] == 256
    assert summary["updates"] > 0
    agent, start = make_agent(str(folder.path)), BestAgent.load()
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
        ({"memory": 0}, "memory=0 is not allowed"),
        ({"batch_size": 0}, "batch_size=0 is not allowed"),
        ({"opponent": "nobody"}, "there is no agent 'nobody'"),
        ({"start": "greedy"}, "start='greedy' is not allowed"),
    ],
)
def test_bad_settings_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **changes)


@pytest.mark.slow
def test_gains_on_greedy_from_nothing(tmp_path):
    """From weights that know nothing of the play, in play-outs of 40,960 deals."""
    new_agent(hidden=(64, 64)).save(tmp_path / "new.safetensors")
    start = f"best:{tmp_path / 'new.safetensors'}"
    settings = replace(SMALL, start=start, episodes=40_960, episodes_at_once=2_048, memory=200_000, batch_size=256)

    def net(agent):
        batch, seats = deals(4_000, seed=9, start_spread=None), np.arange(4_000) % 2
        throw(batch, seats, agent, make_agent("greedy"))
        play_out(batch, seats, agent, make_agent("greedy"))
        pegged = batch.tally[:, :, :, 0].sum(axis=2)
        return (pegged[np.arange(4_000), seats] - pegged[np.arange(4_000), 1 - seats]).mean()

    before = net(make_agent(start))
    after, _ = new_run(response, settings, tmp_path)
    assert net(after) > before + 0.5
